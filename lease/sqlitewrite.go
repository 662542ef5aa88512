package lease

import (
	"math"

	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

// save compares and swaps.
func (s *sqliteStore) save(key string, next Record, expected mo.Option[int64]) error {
	done, err := s.swap(key, next, expected, !s.renews(next, expected))
	if err == nil && !done {
		// It raises the generation after all.
		_, err = s.swap(key, next, expected, true)
	}
	s.note(key, next, err)
	return err
}

// renews guesses that the write raises no generation.
func (s *sqliteStore) renews(next Record, expected mo.Option[int64]) bool {
	id, holds := next.HolderID.Get()
	return expected.IsPresent() && (!holds || s.mine[next.Key] == id)
}

func (s *sqliteStore) note(key string, next Record, err error) {
	id, holds := next.HolderID.Get()
	if err == nil && holds {
		s.mine[key] = id
	} else {
		delete(s.mine, key)
	}
}

// swap is one transaction. done is false, and nothing is written, when it would
// raise the generation without being durable.
func (s *sqliteStore) swap(key string, next Record, expected mo.Option[int64], durable bool) (done bool, err error) {
	err = s.transact(durable, func() (writes bool, err error) {
		done, err = s.write(key, next, expected, durable)
		return done, err
	})
	return done && err == nil, err
}

// saveAll is save of each, in one transaction where that suffices. The error is one
// of all.
func (s *sqliteStore) saveAll(writes []Write) ([]error, error) {
	errs := make([]error, len(writes))
	done := make([]bool, len(writes))
	durable := false
	for i, w := range writes {
		errs[i] = checkSave(w.Next.Key, w.Next)
		durable = durable || errs[i] == nil && !s.renews(w.Next, w.Expected)
	}
	err := s.transact(durable, func() (wrote bool, err error) {
		for i, w := range writes {
			if errs[i] != nil {
				continue
			}
			done[i], err = s.write(w.Next.Key, w.Next, w.Expected, durable)
			if _, conflict := err.(*RevisionConflict); conflict {
				errs[i], err = err, nil
			}
			if err != nil {
				return false, err
			}
			wrote = wrote || done[i]
		}
		return wrote, nil
	})
	for i, w := range writes {
		switch {
		case err != nil:
			s.note(w.Next.Key, w.Next, err)
		case errs[i] == nil && !done[i]:
			errs[i] = s.save(w.Next.Key, w.Next, w.Expected)
			// The others are written: this must not look as if they were not.
			if platform.ReasonOf(errs[i]) != "" {
				errs[i] = platformFailure(w.Next.Key, errs[i])
			}
		default:
			s.note(w.Next.Key, w.Next, errs[i])
		}
	}
	return errs, err
}

// transact runs op in a transaction, which it commits when op has written. A failed
// one is rolled back.
func (s *sqliteStore) transact(durable bool, op func() (writes bool, err error)) error {
	if err := s.sync(durable); err != nil {
		return err
	}
	if err := s.run(s.begin); err != nil {
		return err
	}
	defer func() {
		if s.conn.InTransaction() {
			// The connection is dropped if this fails, too; see SQLite.use.
			_ = s.run(s.rollback)
		}
	}()
	writes, err := op()
	if err != nil || !writes {
		return err
	}
	return s.run(s.commit)
}

// write compares and swaps inside a transaction. done is false, and nothing is
// written, when it would raise the generation and the transaction is not durable.
func (s *sqliteStore) write(key string, next Record, expected mo.Option[int64], durable bool) (done bool, err error) {
	write, lowest := s.insert, next.Generation
	if revision, ok := expected.Get(); ok {
		if s.replaced {
			stored, err := s.revision(key)
			if err == nil {
				err = &RevisionConflict{Key: key, ExpectedRevision: expected, StoredRevision: stored}
			}
			return false, err
		}
		write = s.update
		if durable {
			lowest = 0
		}
		if err := firstError(write.BindInt64(7, revision), write.BindInt64(8, lowest)); err != nil {
			return false, err
		}
	}
	if err := s.bind(write, key, next); err != nil {
		return false, err
	}
	if err := s.run(write); err != nil {
		return false, err
	}
	if s.conn.Changes() > 0 {
		return true, nil
	}
	stored, err := s.revision(key)
	if err != nil {
		return false, err
	}
	if stored == expected && !durable {
		return false, nil
	}
	return false, &RevisionConflict{Key: key, ExpectedRevision: expected, StoredRevision: stored}
}

func (s *sqliteStore) bind(stmt platform.SQLiteStmt, key string, r Record) error {
	holder, id := stmt.BindNull(4), stmt.BindNull(5)
	if h, ok := r.Holder.Get(); ok {
		s.buffer = h.appendJSON(s.buffer[:0])
		holder = stmt.BindText(4, string(s.buffer))
	}
	if text, ok := r.HolderID.Get(); ok {
		id = stmt.BindText(5, text)
	}
	// The column is an integer; a time beyond all integers is for nobody.
	renewedAt := int64(math.Max(math.MinInt64/2, math.Min(math.MaxInt64/2, r.RenewedAt)))
	return firstError(stmt.BindText(1, key), stmt.BindInt64(2, r.Generation), stmt.BindInt64(3, r.Revision),
		holder, id, stmt.BindInt64(6, renewedAt))
}

// revision is the stored one.
func (s *sqliteStore) revision(key string) (mo.Option[int64], error) {
	if err := s.current.BindText(1, key); err != nil {
		return mo.None[int64](), err
	}
	row, err := s.current.Step()
	revision := s.current.ColumnInt64(0)
	_ = s.current.Reset()
	if err != nil || !row {
		return mo.None[int64](), err
	}
	return mo.Some(revision), nil
}
