import { crashPoints } from './crash-points.ts'

crashPoints('postgres')
