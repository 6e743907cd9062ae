package timeline

import "github.com/helenus-db/helenus/internal/guard"

// sideBySide is how many designs are looked for at a time.
const sideBySide = 2

// beside does so many things, sideBySide at a time, and waits for all.
func beside(count int, do func(i int)) {
	var wait guard.Group
	slots := make(chan struct{}, sideBySide)
	for i := range count {
		slots <- struct{}{}
		wait.Go(guard.Advice, func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wait.Wait()
}
