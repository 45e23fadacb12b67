// A terminal for commands under test: what they write is kept, and their environment is given.
import { runCli } from '../../src/cli/program.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export async function cli(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ran> {
  let [out, err] = ['', '']
  const code = await runCli(args, {
    env,
    signal: new AbortController().signal,
    isTerminal: false,
    out: text => {
      out += text
    },
    err: text => {
      err += text
    }
  })
  return { code, out, err }
}

/** The answer of a command that was asked for JSON. */
export function answerOf({ out }: Ran) {
  return JSON.parse(out)
}
