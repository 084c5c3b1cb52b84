#include "textflag.h"

// The loops read the time stamp counter into AX.
#define TICKS \
	RDTSC         \
	SHLQ $32, DX  \
	ORQ  DX, AX

// func readTicks() uint64
TEXT ·readTicks(SB), NOSPLIT, $0-8
	TICKS
	MOVQ AX, ret+0(FP)
	RET

// func shortest(iterations uint64) uint64
TEXT ·shortest(SB), NOSPLIT, $0-16
	MOVQ iterations+0(FP), CX
	MOVQ $-1, R8
	TICKS
	MOVQ AX, R11

again:
	TICKS
	MOVQ AX, R12
	SUBQ R11, R12
	CMPQ R12, R8
	JCC  keep
	MOVQ R12, R8

keep:
	MOVQ AX, R11
	DECQ CX
	JNZ  again
	MOVQ R8, ret+8(FP)
	RET

// func watch(records []uint64, threshold, end uint64) (n int, iterations, first, last uint64)
TEXT ·watch(SB), NOSPLIT, $0-72
	MOVQ records_base+0(FP), DI
	MOVQ records_len+8(FP), SI
	SHRQ $1, SI
	MOVQ threshold+24(FP), R8
	MOVQ end+32(FP), R9
	XORQ CX, CX
	XORQ R10, R10
	TICKS
	MOVQ AX, R11
	MOVQ AX, first+56(FP)

again:
	TICKS
	INCQ R10
	MOVQ AX, R12
	SUBQ R11, R12
	CMPQ R12, R8
	JHI  record

next:
	MOVQ AX, R11
	CMPQ AX, R9
	JCS  again
	JMP  done

record:
	MOVQ R11, (DI)
	MOVQ AX, 8(DI)
	ADDQ $16, DI
	INCQ CX
	CMPQ CX, SI
	JCS  next

done:
	MOVQ CX, n+40(FP)
	MOVQ R10, iterations+48(FP)
	MOVQ AX, last+64(FP)
	RET

// func work(units uint64)
TEXT ·work(SB), NOSPLIT, $0-8
	MOVQ units+0(FP), CX
	TESTQ CX, CX
	JZ    done

again:
	DECQ CX
	JNZ  again

done:
	RET

// func countUnits(unit, end uint64) (n, last uint64)
TEXT ·countUnits(SB), NOSPLIT, $0-32
	MOVQ unit+0(FP), R8
	MOVQ end+8(FP), R9
	XORQ R10, R10

again:
	MOVQ R8, CX

spin:
	DECQ CX
	JNZ  spin
	INCQ R10
	TICKS
	CMPQ AX, R9
	JCS  again
	MOVQ R10, n+16(FP)
	MOVQ AX, last+24(FP)
	RET
