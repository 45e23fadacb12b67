// Random days over PostgreSQL.
import { simulation } from './simulation.ts'

simulation('postgres', { from: 1, count: 800 })
