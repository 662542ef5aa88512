package main

import (
	"cmp"
	"slices"

	"github.com/rivus/tether/platform"
)

// follower tells what is new in a database, look for look. Most keys of a large one
// stay as they are, and a renewal is no news: SQLite adds up, for blocks of rows, what
// only an acquisition or a release changes, and only the blocks whose sum is another
// are read.
type follower struct {
	prefix string
	looks  int
	blocks map[int64]*block
	judged map[platform.Identity]*verdict
}

// block are the rows of some numbers.
type block struct {
	sum, count int64
	entries    []entry // in the order of keys
	verdicts   []*verdict
}

// verdict is the judgement of one process.
type verdict struct {
	liveness string
	changed  bool
	seen     int // the last look that had it
}

const (
	rowsOfBlock = 256
	// A generation only grows, and is added twice so that a release, which adds one,
	// never makes the sum of an earlier state. It is cut so that no sum overflows.
	sqlSums = "SELECT rowid / 256, sum((generation & 0xffffffffff) * 2 + (holder_id IS NULL)), count(*) FROM lease_record GROUP BY 1"
	sqlRows = "SELECT " + columns + " FROM lease_record WHERE rowid >= ?1 AND rowid < ?2 AND substr(key, 1, length(?3)) = ?3 ORDER BY key"
	// everything is how many looks there are between two that read all: another program
	// may have written what no lease does.
	everything = 60
)

// look gives the entries that stand otherwise than at the last look, and those that are
// gone, in the order of keys.
func (f *follower) look(conn platform.SQLiteConn, j judgement) ([]entry, error) {
	f.looks++
	if f.blocks == nil {
		f.blocks = map[int64]*block{}
	}
	if f.judged == nil {
		f.judged = map[platform.Identity]*verdict{}
	}
	for identity, v := range f.judged {
		now := j.of(identity)
		v.changed, v.liveness = now != v.liveness, now
	}
	stmt, err := prepared(conn, sqlRows)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	type sum struct{ of, sum, count int64 }
	var sums []sum
	if err := each(conn, sqlSums, func(row platform.SQLiteStmt) {
		sums = append(sums, sum{row.ColumnInt64(0), row.ColumnInt64(1), row.ColumnInt64(2)})
	}); err != nil {
		return nil, err
	}
	var before, now []entry
	blocks := make(map[int64]*block, len(sums))
	for _, s := range sums {
		old := f.blocks[s.of]
		if old != nil && old.sum == s.sum && old.count == s.count && f.looks%everything != 0 {
			blocks[s.of] = old
			old.judge(&before, &now, f.looks)
			continue
		}
		b := &block{sum: s.sum, count: s.count}
		if err := f.read(stmt, s.of, b, j); err != nil {
			return nil, err
		}
		blocks[s.of] = b
		now = append(now, b.entries...)
		if old != nil {
			before = append(before, old.entries...)
		}
	}
	for of, old := range f.blocks {
		if blocks[of] == nil {
			before = append(before, old.entries...)
		}
	}
	f.blocks = blocks
	for identity, v := range f.judged {
		if v.seen != f.looks {
			delete(f.judged, identity)
		}
	}
	byKey := func(a, b entry) int { return cmp.Compare(a.Key, b.Key) }
	slices.SortFunc(before, byKey)
	slices.SortFunc(now, byKey)
	return changes(before, now), nil
}

func (f *follower) read(stmt platform.SQLiteStmt, of int64, b *block, j judgement) error {
	for i, n := range []int64{of * rowsOfBlock, (of + 1) * rowsOfBlock} {
		if err := stmt.BindInt64(i+1, n); err != nil {
			return err
		}
	}
	if err := stmt.BindText(3, f.prefix); err != nil {
		return err
	}
	err := rows(stmt, func(row platform.SQLiteStmt) {
		e := j.entry(row)
		var v *verdict
		if e.Holder != nil {
			if v = f.judged[e.Holder.Identity]; v == nil {
				v = &verdict{liveness: e.Liveness}
				f.judged[e.Holder.Identity] = v
			}
			v.seen = f.looks
			e.Liveness = v.liveness
		}
		b.entries, b.verdicts = append(b.entries, e), append(b.verdicts, v)
	})
	if reset := stmt.Reset(); err == nil {
		err = reset
	}
	return err
}

// judge adds the entries whose holder's judgement is another to both lists.
func (b *block) judge(before, now *[]entry, look int) {
	for i, v := range b.verdicts {
		if v == nil {
			continue
		}
		v.seen = look
		if v.changed {
			*before = append(*before, b.entries[i])
			b.entries[i].Liveness = v.liveness
			*now = append(*now, b.entries[i])
		}
	}
}

// changes are the entries of now that stand otherwise than before, and those that
// are gone. Both are in the order of keys.
func changes(before, now []entry) (changed []entry) {
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(before) > 0 && before[0].Key < now[0].Key:
			changed = append(changed, entry{Key: before[0].Key, State: gone})
			before = before[1:]
		case len(before) == 0 || now[0].Key < before[0].Key:
			changed = append(changed, now[0])
			now = now[1:]
		default:
			if !now[0].stands(before[0]) {
				changed = append(changed, now[0])
			}
			before, now = before[1:], now[1:]
		}
	}
	return changed
}

// stands tells whether two entries of a key differ by renewals at most.
func (e entry) stands(as entry) bool {
	return e.State == as.State && e.Liveness == as.Liveness && e.Generation == as.Generation &&
		e.HolderID == as.HolderID && e.Problem == as.Problem
}
