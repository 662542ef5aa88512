package processlock

import "sync"

// debts are the files of this process that are still there though what they stood
// for was given up: removing them failed. Their stamps name a living process, so that
// nobody else removes them, ever; who comes next in this process does it first.
type debts struct {
	// mu is held over the look at a file and its removal, so that of two who pay the
	// same debt the later does not remove a file of another acquisition.
	mu    sync.Mutex
	nonce map[spot]string
}

var owed = debts{nonce: make(map[spot]string)}

// owe records that the file at path, with f's nonce, is to be removed.
func (d *debts) owe(f lockFile, path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nonce[spot{f.platform, path}] = f.stamp.Nonce
}

// pay removes the file at path if one is owed. It answers whether there was a debt,
// of any acquisition.
func (d *debts) pay(f lockFile, path string) (was bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := spot{f.platform, path}
	nonce, was := d.nonce[of]
	if !was {
		return false, nil
	}
	f.stamp.Nonce = nonce
	if err := f.remove(path); err != nil {
		return true, err
	}
	delete(d.nonce, of)
	return true, nil
}
