package effect

import (
	"sort"
	"time"
)

const (
	secondsPerDay = 24 * 60 * 60
	// calendarDays is the period of the Gregorian calendar, weekdays included:
	// what is not due within it never is.
	calendarDays = 146_097
)

func (c Cron) nearest(t time.Time, dir int) (time.Time, bool) {
	if c.overlap != CronBoth {
		return c.search(t, dir, c.overlap == CronLater)
	}
	earlier, ok := c.search(t, dir, false)
	later, also := c.search(t, dir, true)
	if !ok || also && later.Compare(earlier) == -dir {
		return later, also
	}
	return earlier, ok
}

// search goes through wall times and resolves each that is due to an instant,
// until one lies beyond t. Wall times are seconds since the epoch as if the
// zone were UTC.
func (c Cron) search(t time.Time, dir int, later bool) (time.Time, bool) {
	zone := c.zone
	if zone == nil {
		zone = t.Location()
	}
	clock := wallClock{zone, later}
	now := t.Unix()
	beyond := func(wall int64) bool {
		at := clock.resolve(wall)
		if dir > 0 {
			return at > now
		}
		return at < now || at == now && t.Nanosecond() > 0
	}
	wall := now + clock.offset(now)
	// In the occurrence of a repeated hour that does not count, the one that does
	// may lie in the direction of the search with wall times on the other side.
	if shift := now - clock.resolve(wall); shift*int64(dir) < 0 {
		wall += shift
	}
	if dir > 0 || t.Nanosecond() == 0 {
		wall += int64(dir)
	}
	for {
		due, ok := c.dueFrom(wall, dir)
		if !ok {
			return time.Time{}, false
		}
		if beyond(due) {
			return time.Unix(clock.resolve(due), 0).In(zone), true
		}
		// Around a change of the clocks due resolves to the wrong side of now, and
		// so does what follows, by less and less, up to some second that is no
		// further away than due's instant is from now.
		gap := (clock.resolve(due) - now) * int64(-dir)
		skip := sort.Search(int(gap), func(i int) bool { return beyond(due + int64(dir*(i+1))) })
		wall = due + int64(dir*(skip+1))
	}
}

// dueFrom is the first wall time from wall on, itself included, that is due.
func (c Cron) dueFrom(wall int64, dir int) (int64, bool) {
	day, second := floorDiv(wall, secondsPerDay)
	first := day
	for (day-first)*int64(dir) <= calendarDays {
		date := time.Unix(day*secondsPerDay, 0).UTC()
		switch {
		case !c.fields[cronMonths].allows(int(date.Month())):
			// The first day of the next month, or the last of the one before.
			beside := time.Date(date.Year(), date.Month()+1, 1, 0, 0, 0, 0, time.UTC)
			if dir < 0 {
				beside = time.Date(date.Year(), date.Month(), 0, 0, 0, 0, 0, time.UTC)
			}
			day = beside.Unix() / secondsPerDay
		case c.dueOn(date.Day(), int(date.Weekday())):
			if at, ok := c.timeFrom(int(second), dir); ok {
				return day*secondsPerDay + int64(at), true
			}
			day += int64(dir)
		default:
			day += int64(dir)
		}
		second = 0
		if dir < 0 {
			second = secondsPerDay - 1
		}
	}
	return 0, false
}

// timeFrom is the first second of the day from second on that is due.
func (c Cron) timeFrom(second, dir int) (int, bool) {
	at := [3]int{second / 3600, second / 60 % 60, second % 60}
	fields := [3]cronField{cronHours, cronMinutes, cronSeconds}
	// Keep as many leading parts as possible, move the next one on, and put those
	// behind it to their edge.
	for keep := 3; keep >= 0; keep-- {
		out, ok := at, true
		for i := 0; i < min(keep, 3) && ok; i++ {
			ok = c.fields[fields[i]].allows(at[i])
		}
		if ok && keep < 3 {
			field := fields[keep]
			out[keep], ok = c.fields[field].seek(field, at[keep]+dir, dir)
			for i := keep + 1; i < 3; i++ {
				out[i] = c.fields[fields[i]].edge(fields[i], dir)
			}
		}
		if ok {
			return out[0]*3600 + out[1]*60 + out[2], true
		}
	}
	return 0, false
}

func floorDiv(a, b int64) (div, mod int64) {
	div, mod = a/b, a%b
	if mod < 0 {
		div, mod = div-1, mod+b
	}
	return div, mod
}

// wallClock turns the wall times of a zone into instants, both in seconds.
type wallClock struct {
	zone  *time.Location
	later bool
}

// offset is what the zone adds to UTC at an instant.
func (w wallClock) offset(at int64) int64 {
	_, offset := time.Unix(at, 0).In(w.zone).Zone()
	return int64(offset)
}

// resolve assumes that the zone's offset changes at most once within a day of
// wall. A time that the change leaves out resolves with the offset before it.
func (w wallClock) resolve(wall int64) int64 {
	before, after := w.offset(wall-secondsPerDay), w.offset(wall+secondsPerDay)
	if before == after {
		return wall - before
	}
	byBefore, byAfter := wall-before, wall-after
	afterHolds := w.offset(byAfter) == after
	switch beforeHolds := w.offset(byBefore) == before; {
	case afterHolds && beforeHolds:
		if w.later {
			return byAfter
		}
		return byBefore
	case afterHolds:
		return byAfter
	default:
		return byBefore
	}
}
