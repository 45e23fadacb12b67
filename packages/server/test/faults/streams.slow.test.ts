import { STREAMS } from './line-faults.ts'
import { matrix } from './matrix.ts'
import { negativeControls } from './negative-controls.ts'

matrix({ name: 'streams' }, STREAMS, negativeControls)
