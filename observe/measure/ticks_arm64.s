#include "textflag.h"

// The loops read the virtual counter, which every core shares, into R0.
#define TICKS MRS CNTVCT_EL0, R0

// func readTicks() uint64
TEXT ·readTicks(SB), NOSPLIT, $0-8
	TICKS
	MOVD R0, ret+0(FP)
	RET

// func shortest(iterations uint64) uint64
TEXT ·shortest(SB), NOSPLIT, $0-16
	MOVD iterations+0(FP), R1
	MOVD $-1, R2
	TICKS
	MOVD R0, R3

again:
	TICKS
	SUB  R3, R0, R4
	CMP  R2, R4
	BHS  keep
	MOVD R4, R2

keep:
	MOVD R0, R3
	SUBS $1, R1
	BNE  again
	MOVD R2, ret+8(FP)
	RET

// func watch(records []uint64, threshold, end uint64) (n int, iterations, first, last uint64)
TEXT ·watch(SB), NOSPLIT, $0-72
	MOVD records_base+0(FP), R1
	MOVD records_len+8(FP), R2
	LSR  $1, R2
	MOVD threshold+24(FP), R3
	MOVD end+32(FP), R4
	MOVD $0, R5
	MOVD $0, R6
	TICKS
	MOVD R0, R7
	MOVD R0, first+56(FP)

again:
	TICKS
	ADD $1, R6
	SUB R7, R0, R8
	CMP R3, R8
	BHI record

next:
	MOVD R0, R7
	CMP  R4, R0
	BLO  again
	B    done

record:
	MOVD R7, (R1)
	MOVD R0, 8(R1)
	ADD  $16, R1
	ADD  $1, R5
	CMP  R2, R5
	BLO  next

done:
	MOVD R5, n+40(FP)
	MOVD R6, iterations+48(FP)
	MOVD R0, last+64(FP)
	RET

// func work(units uint64)
TEXT ·work(SB), NOSPLIT, $0-8
	MOVD units+0(FP), R1
	CBZ  R1, done

again:
	SUBS $1, R1
	BNE  again

done:
	RET

// func countUnits(unit, end uint64) (n, last uint64)
TEXT ·countUnits(SB), NOSPLIT, $0-32
	MOVD unit+0(FP), R1
	MOVD end+8(FP), R2
	MOVD $0, R3

again:
	MOVD R1, R4

spin:
	SUBS $1, R4
	BNE  spin
	ADD  $1, R3
	TICKS
	CMP  R2, R0
	BLO  again
	MOVD R3, n+16(FP)
	MOVD R0, last+24(FP)
	RET
