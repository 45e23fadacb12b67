// The command `drain`: what `cluster drain` of the command line does, for a node of this cluster by its number.
import { runCli } from '@trunkline/server/cli/program'
import type { Program } from './program.ts'

type Run = typeof runCli

/** Moves all users of a node to the others; the node runs on. Resolves to what was done. @throws Error if it was not */
export async function drainNode(name: string, nodes: readonly Program[], run: Run = runCli): Promise<string> {
  const node = nodes.find(program => program.name === name)
  if (node === undefined) {
    const names = nodes.map(program => program.name).join(', ')
    throw new Error(`Only nodes have users to give away: ${names}. \`stop ${name.slice(0, 40)}\` ends another program gracefully.`)
  }
  const { nodes: members } = JSON.parse(await answerOf(run, node, 'cluster', 'nodes', '--json'))
  const member = members.find(
    (row: { url: string; lease_seconds: number }) => row.url === node.env.TRUNKLINE_NODE_URL && row.lease_seconds > 0
  )
  if (member === undefined) throw new Error(`${node.title} is not part of the cluster now. \`status\` shows what it does.`)
  await answerOf(run, node, 'cluster', 'drain', member.node_id)
  return `${node.title} gives its users to the other nodes now, and serves on without. To end that: \`stop ${name}\`, then \`start ${name}\`.`
}

async function answerOf(run: Run, { env }: Program, ...args: readonly string[]): Promise<string> {
  let [out, err] = ['', '']
  const code = await run(args, {
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
  if (code !== 0) throw new Error(err.trim())
  return out
}
