//go:build unix

package platform

import "testing"

// F40: whose a new file is and who may use it. White-box: the decision is a value.
func TestF40_WhoseANewFileIs(t *testing.T) {
	const ann, bob, team, users = 1001, 1002, 50, 100
	for name, c := range map[string]struct{ got, want owned }{
		"a folder of one's own":          {owned{ann, users, 0o644}.inFolder(owned{ann, users, 0o755}, false), owned{ann, users, 0o644}},
		"with a umask of 077":            {owned{ann, users, 0o600}.inFolder(owned{ann, users, 0o755}, false), owned{ann, users, 0o600}},
		"a group's":                      {owned{ann, team, 0o644}.inFolder(owned{0, team, 0o775}, false), owned{ann, team, 0o664}},
		"a group's, with a umask of 077": {owned{ann, team, 0o600}.inFolder(owned{0, team, 0o775}, false), owned{ann, team, 0o664}},
		"a group's alone":                {owned{ann, team, 0o644}.inFolder(owned{0, team, 0o770}, false), owned{ann, team, 0o660}},
		"a group's, but not the file":    {owned{ann, users, 0o644}.inFolder(owned{0, team, 0o775}, false), owned{ann, users, 0o644}},
		"everybody's":                    {owned{ann, users, 0o644}.inFolder(owned{0, 0, 0o777}, false), owned{ann, users, 0o644}},
		"everybody's and the group's":    {owned{ann, users, 0o644}.inFolder(owned{0, users, 0o777}, false), owned{ann, users, 0o664}},
		"root in a user's folder":        {owned{0, 0, 0o644}.inFolder(owned{ann, users, 0o755}, true), owned{ann, users, 0o644}},
		"root in a group's folder":       {owned{0, 0, 0o644}.inFolder(owned{0, team, 0o775}, true), owned{0, team, 0o664}},
		"beside a database":              {owned{ann, users, 0o644}.like(owned{bob, team, 0o660}, false), owned{ann, team, 0o660}},
		"beside everybody's database":    {owned{ann, users, 0o644}.like(owned{bob, team, 0o666}, false), owned{ann, team, 0o664}},
		"root beside a database":         {owned{0, 0, 0o644}.like(owned{bob, team, 0o640}, true), owned{bob, team, 0o640}},
		"the group is not to be had":     {owned{ann, team, 0o660}.withoutGroup(), owned{ann, team, 0o600}},
		"and all may read":               {owned{ann, team, 0o664}.withoutGroup(), owned{ann, team, 0o644}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
		if c.got.mode&worldWritable != 0 {
			t.Errorf("%s: world-writable", name)
		}
	}
}
