// Random days over PostgreSQL.
import { ofSearch } from '@trunkline/testkit/search'
import { simulation } from './simulation.ts'

simulation('postgres', { from: 1, count: ofSearch(800, 40) })
