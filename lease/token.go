package lease

import (
	"strconv"

	"github.com/samber/mo"
)

// FencingToken names one acquisition of a key. Of two of one key the one with
// the larger generation is the later. The JSON is {key, generation}.
type FencingToken struct {
	Key        string `json:"key"`
	Generation int64  `json:"generation"`
}

// String is for people: "task:42#7".
func (t FencingToken) String() string { return t.Key + "#" + strconv.FormatInt(t.Generation, 10) }

// CheckFence is the check that a resource makes before a write: lastSeen is the
// last token that it accepted, which it keeps with what it protects, in one
// atomic step. A smaller generation of the same key is *FenceRejected; anything
// else passes and is the new lastSeen (L16). It is pure.
func CheckFence(lastSeen mo.Option[FencingToken], token FencingToken) mo.Result[FencingToken] {
	seen, ok := lastSeen.Get()
	if ok && seen.Key == token.Key && token.Generation < seen.Generation {
		return mo.Err[FencingToken](&FenceRejected{
			Key: token.Key, Generation: token.Generation, Current: mo.Some(seen.Generation),
		})
	}
	return mo.Ok(token)
}
