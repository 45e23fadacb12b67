import type { Area, Attack } from './list.ts'
import type { NamingTest } from './titles.ts'

/** First line of the page. */
const GENERATED = '<!-- Written by `npm run attacks`; changes made here are lost. -->'

const INTRODUCTION = `# Attacks

What the service is held to withstand, and the tests that show it. A test that covers an attack ends its title with the attack's id; this page is
written from those titles and from [the list](../scripts/attacks/list.ts) with \`npm run attacks\`, and a test of the repository keeps it fresh.

| State | Meaning |
|---|---|
| tested | the named tests fail when it does not hold |
| later | the service does not have the part that it concerns; it comes with it |
| open | not shown, or not held, and the table says why |
`

/** The page of all attacks. Each row stands apart, so that two changes of the table meet only where they mean the same attack. */
export function attacksPage(areas: readonly Area[], tests: ReadonlyMap<string, readonly NamingTest[]>): string {
  const attacks = areas.flatMap(area => area.attacks)
  const states = attacks.map(attack => stateOf(attack, tests.get(attack.id) ?? []))
  const count = (state: State) => states.filter(found => found === state).length
  const summary = `Of ${attacks.length} attacks ${count('tested')} are tested, ${count('later')} come later, ${count('open')} are open.\n`
  return [GENERATED, INTRODUCTION, summary, ...areas.map(area => section(area, tests))].join('\n')
}

export type State = 'tested' | 'later' | 'open'

/** An attack without a test is open, whether or not a reason is given. */
export function stateOf({ later, open, shown }: Attack, tests: readonly NamingTest[]): State {
  if (later !== undefined) return 'later'
  if (open !== undefined || (tests.length === 0 && shown === undefined)) return 'open'
  return 'tested'
}

function section({ title, attacks }: Area, tests: ReadonlyMap<string, readonly NamingTest[]>): string {
  const rows = attacks.map(attack => row(attack, tests.get(attack.id) ?? []))
  return `## ${title}\n\n| | Attack | What must happen | State | Shown by |\n|---|---|---|---|---|\n${rows.join('')}`
}

function row(attack: Attack, tests: readonly NamingTest[]): string {
  const state = stateOf(attack, tests)
  const why = state === 'later' ? `later: with ${attack.later}` : state === 'open' ? `open: ${attack.open ?? 'no test names it'}` : state
  const outcome = attack.note === undefined ? attack.outcome : `${attack.outcome}. *${attack.note}*`
  const shown = [
    ...tests.map(({ file, title }) => `[${nameOf(file)}](../${file}): ${plain(title)}`),
    ...(attack.shown === undefined ? [] : [attack.shown])
  ]
  const cells = [attack.id, attack.attack, outcome, why, shown.join('<br>')]
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
}

function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1).replace(/(\.test)?\.ts$/, '')
}

/** A title as it is in the source; what it puts in is shown as three dots, and nothing in it is Markdown. */
function plain(title: string): string {
  return title
    .replaceAll(/\$\{[^}]*\}/g, '…')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll(/[<>[\]*_`]/g, found => `\\${found}`)
}
