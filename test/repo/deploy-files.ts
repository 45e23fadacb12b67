// The files in `deploy`, parsed for their tests.
import { ALL_SETTINGS, SECRET_SETTINGS, SETTINGS } from '@trunkline/server/config/settings'
import { PromMeter } from '@trunkline/server/ops/metrics'
import type { Json } from '@trunkline/testkit/crash/sandbox-process'
import { parse, parseAllDocuments } from 'yaml'
import { filesLike, SOURCES, textOf } from './repository.ts'

export const DEPLOY = filesLike(/^deploy\/(?!secrets\/|\.env$)/)
export const MANIFESTS = filesLike(/^deploy\/kubernetes\/.*\.yaml$/)

export function yamlOf(file: string): Json {
  return parse(textOf(file), { merge: true })
}

/** Every object of the Kubernetes manifests. */
export function objects(): readonly Json[] {
  return MANIFESTS.filter(file => !file.endsWith('/kustomization.yaml')).flatMap(file =>
    parseAllDocuments(textOf(file)).map(document => {
      if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]?.message}`)
      return document.toJS()
    })
  )
}

export function objectOf(kind: string, name: string): Json {
  const found = objects().find(object => object.kind === kind && object.metadata.name === name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found
}

export interface Instruction {
  readonly name: string
  readonly value: string
}

/** The instructions of the Dockerfile, by stage. */
export function stages(): readonly (readonly Instruction[])[] {
  const text = textOf('deploy/Dockerfile').replaceAll(/^#.*$/gm, '').replaceAll('\\\n', ' ')
  const instructions = text
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => ({ name: /^\w+/.exec(line)?.[0] ?? '', value: line.replace(/^\w+\s+/, '').replaceAll(/\s+/g, ' ') }))
  const starts = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []))
  return starts.map((start, index) => instructions.slice(start, starts[index + 1]))
}

/** The environment names of the service's settings, and of those that `secret-files.mjs` reads from files. */
export const SETTING_NAMES: ReadonlySet<string> = new Set(Object.values(ALL_SETTINGS).map(({ env }) => env))
export const FILE_NAMES: ReadonlySet<string> = new Set(SECRET_SETTINGS.map(name => `${name}_FILE`))

export const SHUTDOWN_SECONDS = Number(SETTINGS.shutdownSeconds.fallback)

/** The labels of every metric that the service exposes, by its name in queries. */
export async function metricLabels(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const labels = new Map<string, ReadonlySet<string>>()
  for (const { name, type, labelNames } of await registered()) {
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    for (const suffix of suffixes) labels.set(name + suffix, new Set([...labelNames, ...(suffix === '_bucket' ? ['le'] : [])]))
  }
  // Those that read a value at each scrape are registered where the value is.
  for (const file of SOURCES.filter(path => path.startsWith('packages/server/src/'))) {
    for (const [, name = '', label] of textOf(file).matchAll(/\.(?:gauges?|totals?)\(\s*'(\w+)',\s*(?:'[^']*'|\w+)(?:,\s*'(\w+)')?/g))
      labels.set(`trunkline_${name}`, new Set(label === undefined ? [] : [label]))
  }
  return labels
}

async function registered(): Promise<readonly { readonly name: string; readonly type: string; readonly labelNames: readonly string[] }[]> {
  const { registry } = new PromMeter()
  const described: Json[] = await registry.getMetricsAsJSON()
  return described.map(({ name, type }) => {
    const metric: Json = registry.getSingleMetric(name)
    return { name, type, labelNames: metric.labelNames ?? [] }
  })
}

/** Every query of the dashboard and of the alerts. */
export function queries(): readonly { readonly where: string; readonly query: string }[] {
  const dashboard: Json = JSON.parse(textOf('deploy/monitoring/grafana/dashboards/trunkline.json'))
  const panels: readonly Json[] = dashboard.panels
  const alerts: readonly Json[] = yamlOf('deploy/monitoring/alerts.yml').groups.flatMap(({ rules }: Json) => rules)
  return [
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }: Json) => ({ where: title, query: expr }))),
    ...alerts.map(({ alert, expr }) => ({ where: alert, query: expr }))
  ]
}
