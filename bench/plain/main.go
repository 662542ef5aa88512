// Plain does what examples/quickstart does, by hand: a row of a database says who owns
// the task, a goroutine renews it, and work ends when it is lost. It is what the
// compiling of a program that uses Tether is measured against. It knows nothing of
// holders that died, of fences that outlive them, and of clocks that are put forward.
package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
)

const (
	ttl       = time.Minute
	heartbeat = 15 * time.Second
	schema    = `CREATE TABLE IF NOT EXISTS lease (key TEXT PRIMARY KEY, token INTEGER NOT NULL, owner TEXT NOT NULL, until INTEGER NOT NULL)`
	take      = `INSERT INTO lease VALUES (?1, 1, ?2, ?3) ON CONFLICT (key) DO UPDATE
		SET token = token + 1, owner = ?2, until = ?3 WHERE until < ?4 RETURNING token`
	renew   = `UPDATE lease SET until = ?1 WHERE key = ?2 AND owner = ?3 AND until > 0`
	release = `UPDATE lease SET until = 0 WHERE key = ?1 AND owner = ?2`
)

var (
	errHeld = errors.New("somebody else holds the lease")
	errLost = errors.New("the lease is lost")
)

type lease struct {
	db         *sql.DB
	key, owner string
	token      int64
	lost       context.CancelCauseFunc
	done       chan struct{}

	mu   sync.Mutex
	stop func()
}

// acquire gives the lease and a context that ends when it is lost.
func acquire(ctx context.Context, db *sql.DB, key string) (*lease, context.Context, error) {
	l := &lease{db: db, key: key, owner: rand.Text(), done: make(chan struct{})}
	now := time.Now()
	err := db.QueryRowContext(ctx, take, key, l.owner, now.Add(ttl).UnixMilli(), now.UnixMilli()).Scan(&l.token)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, errHeld
	}
	if err != nil {
		return nil, nil, err
	}
	ctx, l.lost = context.WithCancelCause(ctx)
	beats, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	go l.beat(beats)
	return l, ctx, nil
}

func (l *lease) beat(ctx context.Context) {
	defer close(l.done)
	ticks := time.NewTicker(heartbeat)
	defer ticks.Stop()
	until := time.Now().Add(ttl)
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			result, err := l.db.ExecContext(ctx, renew, now.Add(ttl).UnixMilli(), l.key, l.owner)
			if err == nil {
				if n, _ := result.RowsAffected(); n == 0 {
					l.lost(errLost)
					return
				}
				until = now.Add(ttl)
			}
			if time.Now().After(until) {
				l.lost(errLost)
				return
			}
		}
	}
}

func (l *lease) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop == nil {
		return nil
	}
	l.stop()
	l.stop = nil
	<-l.done
	l.lost(errLost)
	_, err := l.db.Exec(release, l.key, l.owner)
	return err
}

func save(token int64) { fmt.Println("saved by", token) }

func work(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(100 * time.Millisecond):
		fmt.Println("worked")
		return nil
	}
}

func run(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return err
	}
	l, ctx, err := acquire(ctx, db, "task:42")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	save(l.token)
	return work(ctx)
}

func main() {
	if err := run(context.Background(), filepath.Join(os.TempDir(), "tether-plain.db")); err != nil {
		log.Fatal(err)
	}
}
