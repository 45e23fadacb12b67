// Random days over the embedded store.
import { ofSearch } from '@trunkline/testkit/search'
import { simulation } from './simulation.ts'

simulation('embedded', { from: 801, count: ofSearch(200, 10) })
