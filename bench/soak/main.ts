/** `npm run soak -- --minutes N`: runs the service under a steady load for N minutes (fractions are allowed), and looks for leaks. */
import { parseArgs } from 'node:util'
import { soak } from './soak.ts'

const MINUTES = { least: 0.2, most: 7 * 24 * 60, fallback: '10' }

const USAGE = `npm run soak -- [--minutes ${MINUTES.fallback}] [--seed 1]

Runs the service under a steady load for this many minutes, from ${MINUTES.least} to ${MINUTES.most}, and checks that memory, descriptors and lag do not grow.
The same seed makes the same load. The exit code is 1 if one of them grows, or if a client's copy differs from the service's data.
`

const settings = read()
if (settings === 'help') process.stdout.write(USAGE)
else if (settings === null) {
  process.stderr.write(USAGE)
  process.exitCode = 2
} else {
  const isWell = await soak({ ...settings, print: line => process.stdout.write(`${line}\n`) })
  process.exitCode = isWell ? 0 : 1
}

/** Null if it is invalid. */
function read(): { readonly minutes: number; readonly seed: number } | 'help' | null {
  const text = { type: 'string' } as const
  try {
    const { values } = parseArgs({ options: { minutes: text, seed: text, help: { type: 'boolean', short: 'h' } } })
    if (values.help === true) return 'help'
    const [minutes, seed] = [Number(values.minutes ?? MINUTES.fallback), Number(values.seed ?? '1')]
    return minutes >= MINUTES.least && minutes <= MINUTES.most && Number.isInteger(seed) ? { minutes, seed } : null
  } catch {
    return null
  }
}
