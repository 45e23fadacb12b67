import { matrix } from './matrix.ts'
import { ANSWERS } from './sandbox-faults.ts'

matrix({ name: 'answers' }, ANSWERS)
