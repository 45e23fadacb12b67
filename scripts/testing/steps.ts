// The checks by other programs: format and lint, and types.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Tally } from './tally.ts'

interface Step {
  readonly name: string
  readonly program: readonly string[]
  /** The advice when it fails. */
  readonly advice: string
}

const STEPS: readonly Step[] = [
  {
    name: 'format and lint',
    program: ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '--max-diagnostics=40', '.'],
    advice: 'Most of it is repaired by: npx biome check --write .'
  },
  // Each further checker repeats work of the others: with the default four, the same check took twice the processor time.
  {
    name: 'types',
    program: ['node_modules/typescript/bin/tsc', '-b', '--checkers', '1', '--pretty', 'false'],
    advice: 'See the messages above.'
  }
]

/** Runs all steps at once and adds one pass or one failure each. */
export async function runSteps(root: string, print: (text: string) => void, tally: Tally): Promise<void> {
  await Promise.all(STEPS.map(step => runStep(root, step, print, tally)))
}

async function runStep(root: string, { name, program, advice }: Step, print: (text: string) => void, tally: Tally): Promise<void> {
  const began = performance.now()
  const [script = '', ...args] = program
  const { code, output } = await capture(root, [join(root, script), ...args])
  const seconds = `${((performance.now() - began) / 1000).toFixed(1)} s`
  if (code === 0) {
    tally.pass()
    print(`  ok    ${name} (${seconds})`)
    return
  }
  tally.fail(name)
  print(`  FAIL  ${name} (${seconds})\n\n${output.trim()}\n\n${advice}\n`)
}

function capture(root: string, args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (chunk: string) => {
      output += chunk
    }
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    child.once('error', reject)
    child.once('close', code => resolve({ code, output }))
  })
}
