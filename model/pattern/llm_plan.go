package pattern

// plan is the order in which the stages of a pipeline do the forward and backward passes of the microbatches of an
// iteration: one forward, one backward (1F1B). A stage holds one or several chunks of the model; with several of them
// the model goes through all stages once per chunk (interleaved), which makes the passes shorter and the pipeline fill
// faster.
type plan struct {
	stages, chunks, microbatches int
}

// pass is a forward or backward pass of a microbatch through a chunk.
type pass struct {
	backward   bool
	chunk      int
	microbatch int
}

// passes is the number of passes of a stage in an iteration.
func (p *plan) passes() int { return 2 * p.microbatches * p.chunks }

// warmup is the number of forward passes of a stage before its first backward pass but one.
func (p *plan) warmup(stage int) int {
	all := p.microbatches * p.chunks
	switch {
	case p.chunks == 1:
		return min(p.stages-stage-1, all)
	case p.microbatches == p.stages:
		return all
	}
	return min(2*(p.stages-stage-1)+(p.chunks-1)*p.stages, all)
}

// at returns pass k of a stage: forward passes alone, then forward and backward ones in turn, then the backward passes that
// are left.
func (p *plan) at(stage, k int) pass {
	all, w := p.microbatches*p.chunks, p.warmup(stage)
	switch turn := k - w; {
	case turn < 0:
		return p.forward(k)
	case turn >= 2*(all-w):
		return p.backward(k - all)
	case turn%2 == 0:
		return p.forward(w + turn/2)
	default:
		return p.backward(turn / 2)
	}
}

// forward returns forward pass i of any stage: as many microbatches as there are stages go through the first chunk, then the same
// ones through the next.
func (p *plan) forward(i int) pass {
	if p.chunks == 1 {
		return pass{microbatch: i}
	}
	group, rest := i/(p.stages*p.chunks), i%(p.stages*p.chunks)
	return pass{chunk: rest / p.stages, microbatch: group*p.stages + rest%p.stages}
}

// backward returns backward pass i of any stage.
func (p *plan) backward(i int) pass {
	b := p.forward(i)
	b.backward, b.chunk = true, p.chunks-1-b.chunk
	return b
}

// next returns the stage and the chunk to which the result of a pass goes, before those from which its input comes.
func (p *plan) next(stage int, of pass) (to, chunk int, ok bool) {
	return p.step(stage, of.chunk, !of.backward)
}

func (p *plan) before(stage int, of pass) (from, chunk int, ok bool) {
	return p.step(stage, of.chunk, of.backward)
}

// step goes one stage along the model or back. After the last stage comes the first one with its next chunk.
func (p *plan) step(stage, chunk int, along bool) (int, int, bool) {
	if along {
		if stage++; stage == p.stages {
			stage, chunk = 0, chunk+1
		}
	} else if stage--; stage < 0 {
		stage, chunk = p.stages-1, chunk-1
	}
	return stage, chunk, chunk >= 0 && chunk < p.chunks
}
