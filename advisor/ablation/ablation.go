// Package ablation switches methods of the kernel off, one by one, to see what each is worth (docs/optimiser.md). In the product Without is false, and the compiler leaves out
// what asks it. Built with the tag ablation, as bench/ablation has it, it reads a variable of the environment.
package ablation

// Variable names the method to do without, or several with commas.
const Variable = "HELENUS_WITHOUT"

// Method is a method of the kernel that can be switched off.
type Method string

// The methods, by the package that has them.
const (
	Merging        Method = "merging"         // choice: demands that are alike are taken together (merge.go)
	Domination     Method = "domination"      // choice: tables in whose place another can always be kept go (dominated.go)
	SpaceFilter    Method = "space filter"    // choice: what a limit on space rules out whatever it costs (spacefilter.go)
	SpacePricing   Method = "space pricing"   // choice: space is priced before everything else (dual.go)
	Groups         Method = "groups"          // choice: tables that exclude each other raise a demand once (instance.go)
	Branching      Method = "branching"       // choice: branch and bound of our own (branch.go)
	ExactPrices    Method = "exact prices"    // choice: the simplex method's multipliers (exactdual.go)
	NearFirst      Method = "near first"      // choice: programs of what is near the relaxation (localbranch.go)
	Sweep          Method = "sweep"           // timeline: candidates of the best designs as space gets dearer (sweep.go)
	Drafts         Method = "drafts"          // timeline: single designs drafted by annealing (draft.go)
	MultiStart     Method = "multi-start"     // timeline: annealing from hot over what the relaxation keeps (runs.go)
	MultiStartAll  Method = "multi-start all" // timeline: and over all promising candidates
	Neighbourhoods Method = "neighbourhoods"  // sequence: annealing in rounds near the best (refine.go)
	LocalBranching Method = "local branching" // sequence: the program of what is near the best calendar (expand.go)
	Smoothing      Method = "smoothing"       // sequence: a shortest path along time over designs (smooth.go)
	Memory         Method = "memory"          // sequence: what a graph answered is remembered (memo.go)
)

// Methods are all of them.
var Methods = []Method{Merging, Domination, SpaceFilter, SpacePricing, Groups, Branching, ExactPrices, NearFirst, Sweep, Drafts, MultiStart, MultiStartAll, Neighbourhoods, LocalBranching, Smoothing, Memory}
