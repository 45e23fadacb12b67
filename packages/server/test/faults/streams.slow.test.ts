import { STREAMS } from './line-faults.ts'
import { matrix } from './matrix.ts'

matrix({ name: 'streams' }, STREAMS)
