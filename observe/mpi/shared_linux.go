package mpi

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"slackline/internal/spin"
)

// Processes of one host exchange what is short in memory that all of them have, without the bridge and MPI: an engine
// that goes in lockstep exchanges a few bytes every hundred microseconds, and four switches from process to process
// would take as long as its work.
//
// Process 0 makes the memory, the others open it as a file of process 0 in /proc; if one of them cannot, or has
// another host name, because it is on another host, all use the bridge. For each process there is a slot, with the
// number of the exchange that it has come to, and room for its parts, twice: while others read those of one exchange,
// it writes those of the next one. Parts that do not fit go through the bridge; all know it from the slots.
//
// A process that waits looks for a while, if there is a core for each process, and then sleeps. From time to time it
// asks its bridge whether the job is still whole.

const (
	secretSize = 16
	slotSize   = 128 // a slot has cache lines of its own
	// spinning is how long to look before sleeping, nap how long to sleep before asking the bridge.
	spinning = 50 * time.Microsecond
	nap      = 50 * time.Millisecond
)

// slot is what a process shows the others.
type slot struct {
	come    atomic.Uint32    // the last exchange that it has come to
	waiting atomic.Uint32    // how many sleep until that changes
	long    [2]atomic.Uint32 // 1: its parts in that exchange do not fit, by parity
}

// shared is memory of all processes: a secret, by which they know it, the slots, and the rooms.
type shared struct {
	memory     []byte
	rank, size int
	exchange   uint32
	crowded    bool // there are fewer cores than processes
}

// roomSize is the room for the parts of a process in one exchange.
func roomSize(size int) int { return max(2<<20/size, 64<<10) }

func sharedSize(size int) int { return slotSize*(size+1) + 2*size*roomSize(size) }

func (s *shared) slot(p int) *slot { return (*slot)(unsafe.Pointer(&s.memory[slotSize*(p+1)])) }

// room is where the parts of a process in the present exchange are: first where each of them ends, 4 bytes, then the parts.
func (s *shared) room(p int) []byte {
	n := roomSize(s.size)
	at := slotSize*(s.size+1) + (2*p+int(s.exchange&1))*n
	return s.memory[at : at+n : at+n]
}

// share gives the processes common memory, if they are on one host. All call it.
func (j *Job) share(ctx context.Context) (*shared, error) {
	var made *shared
	var offer []byte
	if j.rank == 0 && !ByBridge {
		made, offer = offerShared(j.size)
	}
	all, err := j.tellAll(ctx, offer)
	if err != nil {
		return nil, err
	}
	if j.rank != 0 {
		made = openShared(bytes.Clone(all[0]), j.size)
	}
	fine := []byte{0}
	if made != nil {
		fine[0] = 1
		for _, set := range Cores() {
			fine = binary.NativeEndian.AppendUint64(fine, set)
		}
	}
	if all, err = j.tellAll(ctx, fine); err != nil {
		return nil, err
	}
	var cores []uint64
	for _, b := range all {
		if len(b) == 0 || b[0] == 0 {
			if made != nil {
				unix.Munmap(made.memory)
			}
			return nil, nil
		}
		cores = union(cores, b[1:])
	}
	made.rank = j.rank
	n := 0
	for _, set := range cores {
		n += bits.OnesCount64(set)
	}
	made.crowded = n > 0 && n < j.size
	return made, nil
}

// union adds a set of cores, as bytes, to another one.
func union(sets []uint64, more []byte) []uint64 {
	for i := 0; 8*i+8 <= len(more); i++ {
		if i == len(sets) {
			sets = append(sets, 0)
		}
		sets[i] |= binary.NativeEndian.Uint64(more[8*i:])
	}
	return sets
}

// tellAll gives the same to all processes, through the bridge.
func (j *Job) tellAll(ctx context.Context, data []byte) ([][]byte, error) {
	out := make([][]byte, j.size)
	for p := range out {
		out[p] = data
	}
	return j.exchangeByBridge(ctx, out)
}

const sharedName = "slackline-job"

// offerShared makes memory and describes where others find it; nil: it cannot be made.
func offerShared(size int) (*shared, []byte) {
	fd, err := unix.MemfdCreate(sharedName, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil
	}
	var s *shared
	if unix.Fallocate(fd, 0, 0, int64(sharedSize(size))) == nil {
		s = mapShared(fd, size)
	}
	if s == nil {
		unix.Close(fd)
		return nil, nil
	}
	rand.Read(s.memory[:secretSize])
	// The descriptor stays open as long as the process lives.
	host, _ := os.Hostname()
	return s, fmt.Appendf(bytes.Clone(s.memory[:secretSize]), "/proc/%d/fd/%d\x00%s", os.Getpid(), fd, host)
}

// openShared opens the memory that process 0 offers; nil: it cannot be opened here.
func openShared(offer []byte, size int) *shared {
	if len(offer) <= secretSize {
		return nil
	}
	path, host, _ := strings.Cut(string(offer[secretSize:]), "\x00")
	if here, _ := os.Hostname(); here != host {
		return nil
	}
	if name, err := os.Readlink(path); err != nil || name != "/memfd:"+sharedName+" (deleted)" {
		return nil
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil || stat.Size != int64(sharedSize(size)) {
		return nil
	}
	s := mapShared(fd, size)
	if s != nil && !bytes.Equal(s.memory[:secretSize], offer[:secretSize]) {
		unix.Munmap(s.memory)
		return nil
	}
	return s
}

func mapShared(fd, size int) *shared {
	memory, err := unix.Mmap(fd, 0, sharedSize(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return &shared{memory: memory, size: size}
}

// exchangeShared exchanges parts in common memory; nil: those of some process do not fit.
func (j *Job) exchangeShared(ctx context.Context, out [][]byte) ([][]byte, error) {
	s := j.shared
	s.exchange++
	mine, side := s.slot(s.rank), s.exchange&1
	mine.long[side].Store(s.layOut(out))
	mine.come.Store(s.exchange)
	if mine.waiting.Load() != 0 {
		wakeAll(&mine.come)
	}
	long := mine.long[side].Load()
	for k := 1; k < s.size; k++ {
		other := s.slot((s.rank + k) % s.size)
		if err := j.await(ctx, other); err != nil {
			return nil, err
		}
		long |= other.long[side].Load()
	}
	if long != 0 {
		return nil, nil
	}
	j.own = append(j.own[:0], out[s.rank]...)
	in := make([][]byte, s.size)
	for p := range in {
		if in[p] = j.own; p != s.rank {
			in[p] = s.takeUp(p)
		}
	}
	return in, nil
}

// layOut puts the parts into the room of this process. It returns 1 if they do not fit.
func (s *shared) layOut(out [][]byte) uint32 {
	room := s.room(s.rank)
	end := 4 * s.size
	for p, part := range out {
		if p != s.rank {
			if len(part) > len(room)-end {
				return 1
			}
			end += copy(room[end:], part)
		}
		binary.NativeEndian.PutUint32(room[4*p:], uint32(end))
	}
	return 0
}

// takeUp finds the part of another process for this one.
func (s *shared) takeUp(from int) []byte {
	room := s.room(from)
	start, end := 4*s.size, int(binary.NativeEndian.Uint32(room[4*s.rank:]))
	if s.rank > 0 {
		start = int(binary.NativeEndian.Uint32(room[4*s.rank-4:]))
	}
	if start == end {
		return nil
	}
	return room[start:end:end]
}

// await waits until another process has come to the present exchange.
func (j *Job) await(ctx context.Context, other *slot) error {
	there := func() bool { return int32(other.come.Load()-j.shared.exchange) >= 0 }
	if there() {
		return nil
	}
	start := time.Now()
	for !j.shared.crowded && time.Since(start) < spinning {
		for range 16 {
			if there() {
				return nil
			}
			spin.Pause()
		}
	}
	for asked := start; !there(); {
		other.waiting.Add(1)
		if come := other.come.Load(); !there() {
			sleepWhile(&other.come, come, nap)
		}
		other.waiting.Add(^uint32(0))
		if now := time.Now(); now.Sub(asked) >= nap {
			asked = now
			if err := j.whole(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// whole asks the bridge whether the job is still whole.
func (j *Job) whole(ctx context.Context) error {
	if err := j.state(ctx); err != nil {
		return err
	}
	result := j.watch(ctx)
	_, err := j.order(orderHello, 0, 0, nil)
	return result(err)
}

// What futex can do, between processes.
const (
	futexWait = 0
	futexWake = 1
)

// sleepWhile sleeps until it is woken, while a word has a value, at most for a time. It may return for no reason.
func sleepWhile(word *atomic.Uint32, value uint32, limit time.Duration) {
	t := unix.NsecToTimespec(int64(limit))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value), uintptr(unsafe.Pointer(&t)), 0, 0)
}

// wakeAll wakes all that sleep because of a word.
func wakeAll(word *atomic.Uint32) {
	const all = 1<<31 - 1
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, all, 0, 0, 0)
}
