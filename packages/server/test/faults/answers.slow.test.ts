import { ANSWERS } from './house-faults.ts'
import { matrix } from './matrix.ts'

matrix({ name: 'answers' }, ANSWERS)
