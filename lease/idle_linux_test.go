package lease_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/samber/mo"
	"golang.org/x/sys/unix"
)

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkIdleManager is a heartbeat of 1,000 held leases: what it costs of a core at
// a Heartbeat of 15 s is reported as %core. Here the heart beats each second; set
// TETHER_IDLE=15s, and -benchtime 4x, for the real thing.
func BenchmarkIdleManager(b *testing.B) {
	every := time.Second
	if text := os.Getenv("TETHER_IDLE"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			b.Fatal(err)
		}
		every = d
	}
	for store := range stores {
		b.Run(store, func(b *testing.B) {
			r := stores[store](b.TempDir())
			if c, ok := r.(*lease.SQLite); ok {
				defer c.Close()
			}
			m, err := lease.NewManager(platformOS(), r, lease.Config{TTL: 4 * every, Heartbeat: every})
			if err != nil {
				b.Fatal(err)
			}
			_, err = effect.Run(context.Background(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
				for i := range 1000 {
					do.Await(m.Acquire(key + string(rune('a'+i/100)) + string(rune('a'+i/10%10)) + string(rune('a'+i%10))))
				}
				do.Await(effect.Sleep(every)) // the first beats are crowded
				before := processorTime()
				b.ResetTimer()
				do.Await(effect.Sleep(time.Duration(b.N) * every))
				b.StopTimer()
				per := (processorTime() - before) / time.Duration(b.N)
				b.ReportMetric(float64(per.Microseconds()), "cpu-us/beat")
				b.ReportMetric(100*per.Seconds()/15, "%core")
			})))
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkRenewal is one renewal by itself: what it costs the processor is reported
// as cpu-us/op. The time, on a disk, is mostly that of a sync.
func BenchmarkRenewal(b *testing.B) {
	for store := range stores {
		b.Run(store, func(b *testing.B) {
			r := stores[store](b.TempDir())
			if c, ok := r.(*lease.SQLite); ok {
				defer c.Close()
			}
			_, err := effect.Run(context.Background(), effect.GenUnit(func(do *effect.Do) {
				rec := record(1, 1, holderOf(1), "0123456789abcdef0123456789abcdef")
				do.Await(r.Save(key, rec, mo.None[int64]()))
				before := processorTime()
				for b.Loop() {
					rec.Revision++
					do.Await(r.Save(key, rec, mo.Some(rec.Revision-1)))
				}
				b.ReportMetric(float64((processorTime()-before).Microseconds())/float64(b.N), "cpu-us/op")
			}))
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
