import { matrix } from './matrix.ts'
import { PROCESSES } from './process-faults.ts'

matrix({ name: 'processes' }, PROCESSES)
