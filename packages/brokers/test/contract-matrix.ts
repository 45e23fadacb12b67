/**
 * Generates docs/contract-matrix.md: which contract cases each broker of the registry passes, and which do not apply to it. The broker's
 * contract tests run every case that applies, and a failure fails the build, so a case that the page shows as passed has passed.
 * Run as a program, it writes the page.
 */

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'
import { CONTRACT_CASES } from '@trunkline/testkit/broker-contract/index'
import { MARKET_CONTRACT_CASES } from '@trunkline/testkit/market-contract/index'
import { ADAPTERS } from '../src/registry.ts'

export const MATRIX = fileURLToPath(new URL('../../../docs/contract-matrix.md', import.meta.url))

interface Row {
  readonly id: string
  readonly title: string
  readonly reasons: readonly (string | null)[]
}

export function contractMatrix(): string {
  const brokers = ADAPTERS.map(({ capabilities }) => capabilities)
  return `<!-- Written by \`node packages/brokers/test/contract-matrix.ts\`; changes made here are lost. -->
# The broker contracts

Two suites of numbered cases test every adapter against its broker's dialect in the sandbox.
Each case is a requirement of the rest of the service.
A broker passes a case (✓), or does not offer what the case tests (–, with the reason below).
There is no third result: a case that fails, fails the build.
[The broker's capabilities](brokers/README.md) decide which cases apply, so no case can be left out by hand.

## Accounts and orders

${table(brokers, rowsOf(CONTRACT_CASES, brokers))}
## Market data

${table(
  brokers,
  rowsOf(
    MARKET_CONTRACT_CASES,
    brokers.map(({ marketData }) => marketData)
  )
)}
## Why a case does not apply

${reasons(brokers)}`
}

function rowsOf<Of>(
  cases: readonly { readonly id: string; readonly title: string; readonly notOffered?: (of: Of) => string | null }[],
  brokers: readonly Of[]
): readonly Row[] {
  return cases.map(({ id, title, notOffered }) => ({ id, title, reasons: brokers.map(broker => notOffered?.(broker) ?? null) }))
}

function table(brokers: readonly BrokerCapabilities[], rows: readonly Row[]): string {
  const head = `| Case | Requirement | ${brokers.map(({ id }) => id).join(' | ')} |\n|---|---|${brokers.map(() => ':-:|').join('')}\n`
  const lines = rows.map(
    ({ id, title, reasons: why }) => `| ${id} | ${title} | ${why.map(reason => (reason === null ? '✓' : '–')).join(' | ')} |\n`
  )
  return `${head}${lines.join('')}`
}

function reasons(brokers: readonly BrokerCapabilities[]): string {
  return brokers
    .map((broker, index) => {
      const rows = [
        ...rowsOf(CONTRACT_CASES, brokers),
        ...rowsOf(
          MARKET_CONTRACT_CASES,
          brokers.map(({ marketData }) => marketData)
        )
      ]
      const casesByReason = new Map<string, string[]>()
      for (const row of rows) {
        const reason = row.reasons[index]
        if (reason !== null && reason !== undefined) casesByReason.set(reason, [...(casesByReason.get(reason) ?? []), row.id])
      }
      const lines = [...casesByReason].map(([reason, ids]) => `- ${ids.join(', ')}: ${reason}\n`)
      return `**${broker.name}**\n\n${lines.length === 0 ? '- every case applies\n' : lines.join('')}`
    })
    .join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(MATRIX, contractMatrix())
