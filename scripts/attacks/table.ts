import type { Area, Attack } from './list.ts'
import type { NamingTest } from './titles.ts'

/** First line of the page. */
const GENERATED = '<!-- Written by `npm run attacks`; changes made here are lost. -->'

const INTRODUCTION = `# Attacks

This page lists the attacks that the service must withstand, and the tests that prove it.
The title of a test that covers an attack ends with the attack's id.
\`npm run attacks\` generates the page from those titles and from [the list](../scripts/attacks/list.ts),
and a test of the repository fails when the page is out of date.

| State | Meaning |
|---|---|
| tested | the named tests fail if the outcome does not hold |
| later | the attack concerns a part that the service does not have yet |
| open | not proved, or does not hold; the table gives the reason |
`

/** The page of all attacks. Each attack is one line, so that changes to different attacks do not conflict. */
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
  return `## ${title}\n\n| | Attack | Required outcome | State | Tests |\n|---|---|---|---|---|\n${rows.join('')}`
}

function row(attack: Attack, tests: readonly NamingTest[]): string {
  const state = stateOf(attack, tests)
  const why = state === 'later' ? `later: with ${attack.later}` : state === 'open' ? `open: ${attack.open ?? 'no test covers it'}` : state
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

/** A title as in the source, with `…` for each substitution and Markdown characters escaped. */
function plain(title: string): string {
  return title
    .replaceAll(/\$\{[^}]*\}/g, '…')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll(/[<>[\]*_`]/g, found => `\\${found}`)
}
