import { STREAMS } from './connection-faults.ts'
import { matrix } from './matrix.ts'

matrix({ name: 'streams' }, STREAMS)
