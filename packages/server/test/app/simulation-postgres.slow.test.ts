// Random days over PostgreSQL, where what happens at once is not answered in the order in which it was asked.
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { openStore } from '../../src/store/index.ts'
import { testDeps } from '../store/deps.ts'
import { Bench } from './bench.ts'
import { simulation } from './simulation.ts'

simulation(async () => {
  const cluster = await sharedPostgres()
  const database = await createDatabase(cluster.url)
  const store = await openStore({ kind: 'postgres', url: database.url, poolMax: 8 }, testDeps())
  return Bench.over(store, async () => {
    await database.drop()
    await cluster.stop()
  })
}, 300)
