package main

// estate is several applications that share a keyspace, and know nothing of each other.
var estate = application{
	name: "estate", model: access.model + league.model + courier.model, normal: access.normal + league.normal + courier.normal,
	grown: func(s *site) (out []chore) {
		for _, app := range []*application{&access, &league, &courier} {
			out = append(out, app.grown(s)...)
		}
		return out
	},
}
