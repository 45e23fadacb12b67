// Random days over the embedded store.
import { simulation } from './simulation.ts'

simulation('embedded', { from: 801, count: 200 })
