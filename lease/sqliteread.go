package lease

import (
	"github.com/samber/mo"
)

// load reads the key's record.
func (s *sqliteStore) load(key string) (mo.Option[Record], error) {
	if err := s.query.BindText(1, key); err != nil {
		return mo.None[Record](), err
	}
	row, err := s.query.Step()
	if err != nil || !row {
		_ = s.query.Reset()
		if err == nil {
			err = s.checkMissing(key)
		}
		return mo.None[Record](), err
	}
	r, err := s.decode(key)
	if reset := s.query.Reset(); err == nil {
		err = reset
	}
	if err != nil {
		return mo.None[Record](), err
	}
	return mo.Some(r), nil
}

// checkMissing tells a key without a record from one whose record is too long to
// be read. It asks for just that: since the query another process may have written
// the key's first record, which is none of its business.
func (s *sqliteStore) checkMissing(key string) error {
	if err := s.tooLong.BindText(1, key); err != nil {
		return err
	}
	row, err := s.tooLong.Step()
	_ = s.tooLong.Reset()
	if err == nil && row {
		err = invalidStored(invalid("its holder or holder_id is longer than any holder needs"))
	}
	return err
}

func (s *sqliteStore) decode(key string) (Record, error) {
	q := s.query
	r := Record{Key: key, Generation: q.ColumnInt64(0), Revision: q.ColumnInt64(1), RenewedAt: float64(q.ColumnInt64(2))}
	if !q.ColumnIsNull(3) {
		s.buffer = q.AppendColumnText(s.buffer[:0], 3)
		h, known := s.holders[string(s.buffer)]
		if !known {
			if err := h.UnmarshalJSON(s.buffer); err != nil {
				return r, invalidStored(err)
			}
			if len(s.holders) >= 64 {
				clear(s.holders)
			}
			s.holders[string(s.buffer)] = h
		}
		r.Holder = mo.Some(h)
	}
	if !q.ColumnIsNull(4) {
		r.HolderID = mo.Some(q.ColumnText(4))
	}
	if err := r.Validate(); err != nil {
		return r, invalidStored(err)
	}
	return r, nil
}

func invalidStored(err error) error {
	return &RepositoryFailure{
		Reason: RepositoryInvalidRecord, Cause: err,
		Message: "the stored record is invalid and was left as it is: " + err.Error(),
	}
}
