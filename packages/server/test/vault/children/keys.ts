// Opens the key file, adds keys, and prints the first key it saw and those it added.
import { FileKeyRing } from '../../../src/vault/file-key-ring.ts'
import { KeyFileRefused } from '../../../src/vault/key-file.ts'

const [path = '', count = '0'] = process.argv.slice(2)
const quiet = { info() {}, warn() {} }
const ring = FileKeyRing.openOrCreate(path, { clock: { monotonicMs: () => performance.now() }, log: quiet })
const seen = [ring.ids().at(-1) ?? '']
while (seen.length <= Number(count)) {
  try {
    seen.push(ring.addKey().id)
  } catch (error) {
    if (!(error instanceof KeyFileRefused)) throw error // busy: another process is changing it
  }
}
process.stdout.write(`${seen.join(' ')}\n`)
