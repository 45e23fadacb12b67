/** `npm run soak -- --minutes N`: the service under a steady load for N minutes (a fraction will do), watched for what it does not give back. */
import { parseArgs } from 'node:util'
import { soak } from './soak.ts'

const MINUTES = { least: 0.2, most: 7 * 24 * 60, fallback: '10' }

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: MINUTES.fallback }, seed: { type: 'string', default: '1' } }
})
const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
if (!(minutes >= MINUTES.least && minutes <= MINUTES.most) || !Number.isInteger(seed)) {
  process.stderr.write(`usage: npm run soak -- [--minutes ${MINUTES.least} to ${MINUTES.most}] [--seed <whole number>]\n`)
  process.exitCode = 2
} else {
  const isWell = await soak({ minutes, seed, say: line => process.stdout.write(`${line}\n`) })
  process.exitCode = isWell ? 0 : 1
}
