// Random days over the embedded store.
import { Bench } from './bench.ts'
import { simulation } from './simulation.ts'

simulation(() => Bench.open(), 100)
