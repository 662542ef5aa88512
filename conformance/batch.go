package conformance

import "sync"

// each calls do for every index below count, in `workers` goroutines. The order of the calls is that of the indices, of
// their ends any.
func each(count, workers int, do func(index int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range workers {
		group.Go(func() {
			for index := range next {
				do(index)
			}
		})
	}
	for index := range count {
		next <- index
	}
	close(next)
	group.Wait()
}
