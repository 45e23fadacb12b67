// Rotates the keys of a data directory and dies, as by SIGKILL, after so many values got their new wrap.
import { join } from 'node:path'
import { Admin } from '../../../src/admin/index.ts'
import { openStore } from '../../../src/store/index.ts'
import { clock, hasher, hurried, ids, keysIn, quiet, run, webhooksWith } from '../support.ts'

const [dataDir = '', url = '', dieAfter = ''] = process.argv.slice(2)
const settings =
  url === '' ? ({ kind: 'embedded', dataDir: join(dataDir, 'database') } as const) : ({ kind: 'postgres', url, poolMax: 4 } as const)
const store = await openStore(settings, { clock, ids, log: quiet })
const keys = keysIn(dataDir)

let swapped = 0
const die = () => process.kill(process.pid, 'SIGKILL')
const { connections } = store
const mortal = {
  ...store,
  connections: new Proxy(connections, {
    get(target, name) {
      if (name !== 'rewrapped') return Reflect.get(target, name).bind(target)
      return async (...args: Parameters<typeof connections.rewrapped>) => {
        if (keys.ring.ids().length > 1 && swapped >= Number(dieAfter)) die()
        const result = await target.rewrapped(...args)
        if (keys.ring.ids().length > 1) swapped += 1
        if (swapped >= Number(dieAfter) && Number(dieAfter) > 0) die()
        return result
      }
    }
  })
}
const admin = new Admin({
  store: mortal,
  clock: hurried,
  ids,
  hasher,
  log: quiet,
  bus: null,
  settling: null,
  keys: () => keys,
  webhooks: webhooksWith(() => keys),
  demoFile: null,
  publicUrl: null
})
await admin.perform('keys.rotate', { mode: 'add', retire: 'no' }, run())
