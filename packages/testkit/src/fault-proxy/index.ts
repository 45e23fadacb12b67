// A proxy between two TCP parties, which injects network faults on command.
export { CLEAR, type Conditions, type Direction, type LinkKind } from './conditions.ts'
export { type Frame, FrameReader } from './frames.ts'
export { FaultProxy, type ProxyCounts } from './proxy.ts'
export type { RequestCut } from './request-cut.ts'
export { CutBetween, Disorder, type DisorderOptions, eventOf, type Passed, type Tampered, type Tampering } from './tampering.ts'
