package main

import "time"

// cookbook is recipes and those who cook them: slugs and names of users for keys, what is made of what in lines, tags and who shares a list in sets, feeds and mentions that have copies of what they are about,
// comments that answer others, a user's collections by their names, and views that the database keeps.
var cookbook = application{
	name: "cookbook",
	model: `
User 2200 *username:text fullname:text email:text joined:timestamp
Cuisine 40 *cuisine:text label:text
Recipe 4000 *slug:text title:text servings:int/9 published:timestamp author->User.recipes cuisine->Cuisine.recipes original->Recipe.variants?0.85
Ingredient 600 *ingredient:text label:text kcal:int/700
Line 14000 *recipe->Recipe.lines *position:int@recipe amount:text/60 ingredient->Ingredient.lines
Step 9000 *recipe->Recipe.steps *step_no:int@recipe instruction:text minutes:int/40
Tag 120 *tag:text about:text
Tagged 7000 *recipe->Recipe.tagged *tag->Tag.tagged
Follow 6000 *follower->User.following *followee->User.followers since:timestamp
Like 9000 *recipe->Recipe.likes *user->User.likes liked_at:timestamp
Cooked 4000 *cooked_id:timeuuid stars:int/5 note:text recipe->Recipe.cooked cook->User.cooked
Comment 8000 *comment_id:timeuuid body:text recipe->Recipe.comments author->User.comments answered->Comment.answers?0.7
Mention 2500 *user->User.mentions *comment->Comment.mentions
FeedItem 9000 *reader->User.feed *recipe->Recipe.fed
Shelf 2500 *owner->User.shelves *shelf:text@owner public:boolean/2
Kept 7000 *shelf->Shelf.kept *recipe->Recipe.kept added:timestamp
Plan 5000 *planner->User.plans *day:date@planner servings:int/9 recipe->Recipe.planned
List 1500 *list_id:uuid name:text owner->User.lists
Shared 2500 *list->List.shared *user->User.shared
Item 7000 *list->List.items *item_no:int@list amount:text/60 checked:boolean/2 ingredient->Ingredient.items
Photo 3500 *photo_id:uuid url:text recipe->Recipe.photos uploader->User.photos
Store 70 *store:text town:text/30
Offer 3000 *store->Store.offers *ingredient->Ingredient.offers price:int/900
Report 700 *report_id:uuid reason:text/6 recipe->Recipe.reports reporter->User.reported
Session 2500 *session_token:text expires:timestamp user->User.sessions
Notice 6000 *notice_id:timeuuid month:int<notice_id/900 kind:text/4 recipient->User.notices actor->User.acted recipe->Recipe.notices?0.3`,
	normal: `
users(User): username | | fullname email joined
users_by_email(User): email | | username
cuisines(Cuisine): cuisine | | label
recipes(Recipe): slug | | title servings published author=author cuisine=cuisine original=original tags=tagged~set
recipes_by_author(Recipe): author=author | -published slug | title servings
recipes_by_cuisine(Recipe): cuisine=cuisine | slug | title servings published author=author original=original ; view=recipes
recipe_variants(Recipe): original=original | slug | title author=author
recipe_ingredients(Line): slug=recipe | position | amount ingredient=ingredient !title=recipe.title
recipes_by_ingredient(Line): ingredient=ingredient | slug=recipe position
recipe_steps(Step): slug=recipe | step_no | instruction minutes
ingredients(Ingredient): ingredient | | label kcal
tags(Tag): tag | | about
recipes_by_tag(Tagged): tag=tag | slug=recipe | title=recipe.title
followers(Follow): username=followee | follower=follower | since
following(Follow): username=follower | followee=followee | since
likes(Like): slug=recipe | username=user | liked_at
likes_by_user(Like): username=user | -liked_at slug=recipe
cooked(Cooked): slug=recipe | -cooked_id | stars note username=cook
cooked_by_user(Cooked): username=cook | -cooked_id | slug=recipe stars
comments(Comment): slug=recipe | -comment_id | body author=author answered=answered
mentions(Mention): username=user | -comment_id=comment | slug=comment.recipe author=comment.author body=comment.body
home_feed(FeedItem): username=reader | -published=recipe.published slug=recipe | title=recipe.title author=recipe.author
shelves(Shelf): username=owner | shelf | public
shelf_recipes(Kept): username=shelf.owner shelf=shelf.shelf | slug=recipe | added title=recipe.title
meal_plans(Plan): username=planner | day | slug=recipe servings
shopping_lists(List): list_id | | name owner=owner members=shared~set
lists_by_user(List): username=owner | list_id | name
list_items(Item): list_id=list | item_no | amount checked ingredient=ingredient
photos(Photo): slug=recipe | photo_id | url uploader=uploader
stores(Store): store | | town
offers(Offer): ingredient=ingredient | store=store | price
reports(Report): report_id | | reason slug=recipe reporter=reporter
sessions(Session): session_token | | expires username=user
notices(Notice): username=recipient month | -notice_id | kind actor=actor slug=recipe`,
	grown: func(s *site) []chore {
		const web, app, job = 1, 2, 3
		user := func(c *client, f *frame) {
			if !c.cached("user", f, 100*time.Millisecond) {
				c.get("users", f, "fullname")
			}
		}
		return []chore{
			s.call(16, web, func(c *client) {
				f := c.get("recipes", c.any("Recipe"), "*")
				user(c, f.to("author"))
				if o := f.to("original"); o != nil {
					c.get("recipes", o, "title author")
				}
				for _, x := range c.list("recipe_ingredients", f, "recipe", "*") {
					if c.chance(0.5) {
						c.get("ingredients", x.to("ingredient"), "label kcal")
					}
				}
				c.list("recipe_steps", f, "recipe", "step_no instruction minutes")
				for _, x := range c.list("comments", f, "recipe", "comment_id body author answered limit 6") {
					user(c, x.to("author"))
				}
				c.list("photos", f, "recipe", "photo_id url uploader limit 4")
			}),
			s.call(12, app, func(c *client) {
				f := c.get("users", c.get("sessions", c.any("Session"), "user expires").to("user"), "*")
				for _, x := range c.list("home_feed", f, "reader", "recipe.published recipe recipe.title recipe.author limit 8") {
					if c.chance(0.4) {
						c.get("recipes", x.to("recipe"), "*")
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := c.get("users", c.any("User"), "*")
				for _, x := range c.list("recipes_by_author", f, "author", "published slug title servings limit 6") {
					if c.chance(0.5) {
						c.get("recipes", x, "*")
					}
				}
				for _, x := range c.list("followers", f, "followee", "follower since limit 6") {
					user(c, x.to("follower"))
				}
				for _, x := range c.list("cooked_by_user", f, "cook", "cooked_id recipe stars limit 4") {
					c.get("recipes", x.to("recipe"), "title")
				}
			}),
			s.call(6, web, func(c *client) {
				f := c.get("cuisines", c.any("Cuisine"), "label")
				for _, x := range c.list("recipes_by_cuisine", f, "cuisine", "slug title author limit 8") {
					user(c, x.to("author"))
				}
			}),
			s.call(6, web, func(c *client) {
				f := c.get("tags", c.any("Tag"), "about")
				for _, x := range c.list("recipes_by_tag", f, "tag", "recipe recipe.title limit 8") {
					if c.chance(0.4) {
						c.get("recipes", x.to("recipe"), "*")
					}
				}
			}),
			s.call(5, web, func(c *client) {
				f := c.get("ingredients", c.any("Ingredient"), "*")
				for _, x := range c.list("recipes_by_ingredient", f, "ingredient", "recipe position limit 8") {
					c.get("recipes", x.to("recipe"), "title")
				}
				for _, x := range c.list("offers", f, "ingredient", "store price") {
					c.get("stores", x.to("store"), "town")
				}
			}),
			s.call(6, app, func(c *client) {
				f := c.any("User")
				for _, x := range c.list("shelves", f, "owner", "shelf public") {
					for _, y := range c.list("shelf_recipes", x, "shelf", "recipe added recipe.title limit 6") {
						if c.chance(0.4) {
							c.get("recipes", y.to("recipe"), "title servings")
						}
					}
				}
			}),
			s.call(6, app, func(c *client) {
				f := c.get("users_by_email", c.any("User"), "username")
				for _, x := range c.list("lists_by_user", f, "owner", "list_id name") {
					y := c.get("shopping_lists", x, "name shared~set")
					for _, z := range c.list("list_items", y, "list", "*") {
						c.get("ingredients", z.to("ingredient"), "label")
					}
				}
			}),
			s.call(5, app, func(c *client) {
				for _, x := range c.list("meal_plans", c.any("User"), "planner", "day recipe servings limit 7") {
					c.get("recipes", x.to("recipe"), "title servings")
				}
			}),
			s.call(4, web, func(c *client) {
				for _, x := range c.list("mentions", c.any("User"), "user", "comment comment.recipe comment.author comment.body limit 5") {
					if c.chance(0.4) {
						c.get("comments", x.to("comment"), "body author")
					}
				}
			}),
			s.call(5, app, func(c *client) {
				for _, x := range c.list("notices", c.any("User"), "recipient", "notice_id kind actor recipe limit 6") {
					user(c, x.to("actor"))
					if r := x.to("recipe"); r != nil && c.chance(0.5) {
						c.get("recipes", r, "title")
					}
				}
			}),
			s.call(4, web, func(c *client) {
				for _, x := range c.list("likes_by_user", c.any("User"), "user", "liked_at recipe limit 6") {
					c.get("recipes", x.to("recipe"), "title")
				}
				for _, x := range c.list("following", c.any("User"), "follower", "followee since limit 6") {
					user(c, x.to("followee"))
				}
			}),
			s.call(4, web, func(c *client) {
				f := c.get("recipes", c.any("Recipe"), "title")
				for _, x := range c.list("likes", f, "recipe", "user liked_at limit 6") {
					user(c, x.to("user"))
				}
				for _, x := range c.list("cooked", f, "recipe", "cooked_id stars note cook limit 5") {
					user(c, x.to("cook"))
				}
				c.list("recipe_variants", f, "original", "slug title author")
			}),
			s.call(3, job, func(c *client) {
				f := c.get("reports", c.any("Report"), "*")
				c.get("recipes", f.to("recipe"), "title author")
				user(c, f.to("reporter"))
			}),
			s.call(3, web, func(c *client) {
				r := c.make("Recipe", true, "recipes recipes_by_author", nil)
				for range 3 {
					c.make("Line", true, "recipe_ingredients recipes_by_ingredient", map[string]*frame{"recipe": r})
					c.make("Step", false, "recipe_steps", map[string]*frame{"recipe": r})
				}
				c.make("Tagged", false, "recipes_by_tag", map[string]*frame{"recipe": r})
				for range 3 {
					c.make("FeedItem", false, "home_feed", map[string]*frame{"recipe": r})
				}
			}),
			s.call(4, web, func(c *client) { c.make("Like", true, "likes likes_by_user", nil) }),
			s.call(3, web, func(c *client) {
				x := c.make("Comment", false, "comments", nil)
				c.make("Mention", false, "mentions", map[string]*frame{"comment": x})
			}),
			s.call(2, app, func(c *client) { c.make("Cooked", true, "cooked cooked_by_user", nil) }),
			s.call(2, web, func(c *client) { c.make("Follow", true, "followers following", nil) }),
			s.call(2, app, func(c *client) { c.make("Kept", false, "shelf_recipes", nil) }),
			s.call(2, app, func(c *client) { c.make("Plan", false, "meal_plans", nil) }),
			s.call(2, app, func(c *client) { c.make("Item", false, "list_items", nil) }),
			s.call(3, job, func(c *client) { c.make("Notice", false, "notices", nil) }),
			s.call(1, web, func(c *client) { c.make("User", true, "users users_by_email", nil) }),
			s.call(1, web, func(c *client) { c.make("Session", false, "sessions", nil) }),
		}
	},
}
