// What `deploy` says about the service is true: its settings, metrics, ports, probes, rights and time limits.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SECRET_SETTINGS } from '@trunkline/server/config/settings'
import type { Json } from '@trunkline/testkit/crash/sandbox-process'
import {
  DEPLOY,
  FILE_NAMES,
  MANIFESTS,
  metricLabels,
  objectOf,
  objects,
  queries,
  SETTING_NAMES,
  SHUTDOWN_SECONDS,
  stages,
  yamlOf
} from './deploy-files.ts'
import { FILES, ROOT, textOf } from './repository.ts'

const compose = yamlOf('deploy/compose.yaml')
const services: readonly (readonly [string, Json])[] = Object.entries(compose.services)
const nodes = services.filter(([name]) => name.startsWith('node-'))
const manifest: Json = JSON.parse(textOf('package.json'))
const [build = [], image = []] = stages()
/** Containers that stay root, without capabilities but one. */
const ROOT_CONTAINERS = ['caddy']

function valuesOf(stage: typeof image, name: string): readonly string[] {
  return stage.filter(instruction => instruction.name === name).map(({ value }) => value)
}

test('every setting that is named exists, and only secrets come from files', () => {
  const unknown = DEPLOY.flatMap(file =>
    [...textOf(file).matchAll(/\bTRUNKLINE_[A-Z_]+\b/g)]
      .map(([name]) => name)
      .filter(name => !SETTING_NAMES.has(name) && !FILE_NAMES.has(name))
      .map(name => `${file}: ${name}`)
  )
  assert.deepEqual(unknown, [])
})

test('the image reads exactly the secret settings from files', () => {
  const listed = /SECRETS = \[([^\]]*)\]/.exec(textOf('deploy/image/secret-files.mjs'))?.[1] ?? ''
  assert.deepEqual([...listed.matchAll(/'(\w+)'/g)].map(([, name]) => name).toSorted(), SECRET_SETTINGS.toSorted())
})

test('every metric of the dashboard and the alerts exists, with its labels', async () => {
  const labels = await metricLabels()
  const wrong: string[] = []
  for (const { where, query } of queries()) {
    const names = [...query.matchAll(/\btrunkline_\w+/g)].map(([name]) => name)
    for (const name of names) if (!labels.has(name)) wrong.push(`${where}: ${name} does not exist`)
    const known = new Set(['instance', 'job', ...names.flatMap(name => [...(labels.get(name) ?? [])])])
    const used = [
      ...[...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
      ...[...query.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
    ]
    for (const label of used) if (!known.has(label)) wrong.push(`${where}: no metric of it has the label ${label}`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(queries().length > 30)
})

test('the image runs what npm start runs, on the Node of the lock, without root, tests or tools', () => {
  assert.equal(manifest.scripts.start, 'node scripts/start.mjs')
  const started = /launch\('([^']+)'/.exec(textOf('scripts/start.mjs'))?.[1]
  assert.deepEqual(valuesOf(image, 'CMD'), [`["${started}"]`])
  assert.deepEqual(valuesOf(image, 'ENTRYPOINT'), ['["/usr/local/bin/node"]'])
  assert.match(textOf('deploy/image/collect.sh'), /cp node_modules\/node-linux-\*\/bin\/node "\$out\/usr\/local\/bin\/node"/)
  assert.deepEqual(valuesOf(image, 'FROM'), ['scratch'])
  assert.match(valuesOf(image, 'USER')[0] ?? '', /^[1-9]\d+:[1-9]\d+$/)
  assert.deepEqual(valuesOf(build, 'RUN'), [
    'npm ci --omit=dev --no-audit --no-fund --loglevel=error',
    'sh deploy/image/collect.sh /runtime'
  ])
  const [, version] = /ARG BUILD_IMAGE=node:(\d+\.\d+\.\d+)-/.exec(textOf('deploy/Dockerfile')) ?? []
  assert.deepEqual(
    new Set(Object.values(manifest.optionalDependencies)),
    new Set([version]),
    'the Node of the first stage is that of the lock'
  )
})

test('the image has the sources of every workspace but the one for tests, and those that are served as they were built', () => {
  const workspaces = FILES.flatMap(file => /^packages\/([^/]+)\/package\.json$/.exec(file)?.[1] ?? [])
  const copies = valuesOf(build, 'COPY')
  for (const name of workspaces) {
    assert.ok(copies.includes(`packages/${name}/package.json packages/${name}/`), `npm ci needs the package.json of ${name}`)
    assert.equal(
      copies.includes(`packages/${name}/src packages/${name}/src`),
      !['testkit', 'client', 'console'].includes(name),
      `the sources of ${name}`
    )
  }
  for (const name of ['client', 'console']) assert.ok(copies.includes(`packages/${name}/dist packages/${name}/dist`), name)
  for (const [source = ''] of copies.map(value => value.split(' '))) assert.ok(existsSync(join(ROOT, source)), source)
  const ignored = textOf('.dockerignore').split('\n')
  assert.ok(ignored.includes('*'), 'nothing reaches the builder by default')
  assert.ok(!ignored.some(line => /^!.*(test|secrets|\.data|\.env)/.test(line)))
})

test('images of others have an exact version', () => {
  const used = [
    ...services.map(([, { image: name }]) => name),
    ...objects().flatMap(object => containersOf(object).map(container => container.image)),
    /BUILD_IMAGE=(\S+)/.exec(textOf('deploy/Dockerfile'))?.[1]
  ].filter(name => !/(^|\/)trunkline(:|$)/.test(name))
  for (const name of used) assert.match(name, /^[\w/.-]+:v?\d+\.\d+(\.\d+)?(-[a-z-]+)?(@sha256:[0-9a-f]{64})?$/)
  assert.ok(used.length >= 7)
})

test('containers of compose.yaml write nothing, gain nothing, and are not root', () => {
  for (const [name, service] of services) {
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
    if (ROOT_CONTAINERS.includes(name)) assert.deepEqual(service.cap_add, ['NET_BIND_SERVICE'], name)
    else {
      assert.match(service.user, /^[1-9]\d*:\d+$/, name)
      assert.equal(service.cap_add, undefined, name)
    }
  }
})

test('what compose.yaml mounts and refers to exists', () => {
  for (const [name, service] of services) {
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':')
      if (source.startsWith('.')) assert.ok(existsSync(join(ROOT, 'deploy', source)), `${name}: ${source}`)
      else assert.ok(source in compose.volumes, `${name}: ${source}`)
    }
    for (const secret of service.secrets ?? []) assert.ok(secret in compose.secrets, `${name}: ${secret}`)
    for (const network of service.networks) assert.ok(network in compose.networks, `${name}: ${network}`)
    for (const [, file] of Object.entries(service.environment ?? {}).filter(([key]) => /_FILE$/.test(key)))
      assert.ok((service.secrets ?? []).includes(String(file).replace('/run/secrets/', '')), `${name}: ${file}`)
    const [, , script] = service.healthcheck?.test ?? []
    if (/\.mjs$/.test(script ?? '')) assert.ok(existsSync(join(ROOT, script)), script)
  }
})

test('three nodes, each with its own address, behind the balancer and watched', () => {
  assert.equal(nodes.length, 3)
  const port = portOfImage()
  for (const [name, { environment, stop_grace_period: grace, restart }] of nodes) {
    assert.equal(environment.TRUNKLINE_NODE_URL, `http://${name}:${environment.TRUNKLINE_NODE_PORT}`)
    assert.ok(Number(/^(\d+)s$/.exec(grace)?.[1]) > SHUTDOWN_SECONDS + 10, `${name}: the service ends itself before it is killed`)
    assert.equal(restart, 'unless-stopped')
  }
  const upstreams = /reverse_proxy ([^{]+)\{/.exec(textOf('deploy/caddy/Caddyfile'))?.[1]?.trim().split(' ')
  const [scraped] = yamlOf('deploy/monitoring/prometheus.yml').scrape_configs
  for (const list of [upstreams, scraped.static_configs[0].targets])
    assert.deepEqual(
      list,
      nodes.map(([name]) => `${name}:${port}`)
    )
  const [{ subnet }] = compose.networks.edge.ipam.config
  assert.ok(nodes.every(([, { environment }]) => environment.TRUNKLINE_TRUSTED_PROXIES === subnet))
})

test('the balancer repeats no request that may have reached a node', () => {
  const caddy = textOf('deploy/caddy/Caddyfile')
  assert.match(caddy, /health_uri \/readyz/)
  assert.doesNotMatch(caddy, /^\s*lb_retry_match/m)
  assert.doesNotMatch(JSON.stringify(objectOf('Ingress', 'trunkline').metadata.annotations), /non_idempotent/)
})

test('the kustomization lists every manifest but the job', () => {
  const { resources, configMapGenerator } = yamlOf('deploy/kubernetes/kustomization.yaml')
  const others = MANIFESTS.map(file => file.replace('deploy/kubernetes/', '')).filter(file => !/^(kustomization|migrate)\.yaml$/.test(file))
  assert.deepEqual(resources.toSorted(), others.toSorted())
  const [{ envs, name }] = configMapGenerator
  for (const file of envs) assert.ok(existsSync(join(ROOT, 'deploy/kubernetes', file)))
  assert.equal(containersOf(objectOf('Deployment', 'trunkline'))[0]?.envFrom[0].configMapRef.name, name)
})

test('every pod is one that the restricted level of Kubernetes accepts', () => {
  const { labels } = objectOf('Namespace', 'trunkline').metadata
  assert.equal(labels['pod-security.kubernetes.io/enforce'], 'restricted')
  const pods = objects().filter(object => object.spec?.template !== undefined)
  assert.equal(pods.length, 3)
  for (const pod of pods) {
    const { spec } = pod.spec.template
    assert.equal(spec.automountServiceAccountToken, false)
    assert.equal(spec.securityContext.runAsNonRoot, true)
    assert.ok(spec.securityContext.runAsUser > 0)
    assert.deepEqual(spec.securityContext.seccompProfile, { type: 'RuntimeDefault' })
    assert.ok(!spec.hostNetwork && !spec.hostPID && !spec.hostIPC)
    for (const { securityContext, resources } of containersOf(pod)) {
      assert.deepEqual(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] }
      })
      assert.ok(resources.limits.memory)
    }
    for (const volume of spec.volumes) assert.ok('emptyDir' in volume || 'secret' in volume, volume.name)
  }
})

test('probes ask what the service answers, at the port on which it listens', () => {
  const [node] = containersOf(objectOf('Deployment', 'trunkline'))
  const ports = new Map<string, number>(node.ports.map(({ name, containerPort }: Json) => [name, containerPort]))
  assert.equal(ports.get('http'), portOfImage())
  assert.equal(String(ports.get('nodes')), settingIn('TRUNKLINE_NODE_PORT'))
  assert.deepEqual(valuesOf(image, 'EXPOSE'), [`${ports.get('http')} ${ports.get('nodes')}`])
  const routes = textOf('packages/server/src/ops/routes.ts')
  for (const [probe, path] of [
    ['startupProbe', '/healthz'],
    ['livenessProbe', '/healthz'],
    ['readinessProbe', '/readyz']
  ] as const) {
    assert.deepEqual(node[probe].httpGet, { path, port: 'http' })
    assert.ok(routes.includes(`app.get('${path}'`), path)
  }
})

test('a pod has more time to end than the service takes, after its balancers have learned of it', () => {
  const { template } = objectOf('Deployment', 'trunkline').spec
  const [node] = containersOf(objectOf('Deployment', 'trunkline'))
  const before = node.lifecycle.preStop.sleep.seconds
  const own = Number(settingIn('TRUNKLINE_SHUTDOWN_SECONDS'))
  assert.equal(own, SHUTDOWN_SECONDS)
  assert.ok(template.spec.terminationGracePeriodSeconds > before + own + 10)
})

test('selectors select the pods, and the nodes are never all down at once', () => {
  const { labels } = objectOf('Deployment', 'trunkline').spec.template.metadata
  assert.deepEqual(objectOf('Deployment', 'trunkline').spec.selector.matchLabels, labels)
  assert.deepEqual(objectOf('Service', 'trunkline').spec.selector, labels)
  const disruptions = objectOf('PodDisruptionBudget', 'trunkline').spec
  assert.deepEqual([disruptions.selector.matchLabels, disruptions.maxUnavailable], [labels, 1])
  assert.deepEqual(objectOf('Deployment', 'trunkline').spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 })
  assert.equal(objectOf('Service', 'trunkline').spec.ports[0].targetPort, 'http')
})

test('the network policies refuse by default and allow the ports that are used', () => {
  assert.deepEqual(objectOf('NetworkPolicy', 'deny').spec, { podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
  const { ingress, egress } = objectOf('NetworkPolicy', 'trunkline').spec
  const portsOf = (rules: readonly Json[]) => new Set(rules.flatMap(({ ports }) => ports.map(({ port }: Json) => port)))
  assert.deepEqual(portsOf(ingress), new Set([portOfImage(), 8081]))
  assert.deepEqual(portsOf(egress), new Set([8081, 4222, 53, 5432, 443]))
  const nodesOnly = ingress.filter(({ ports }: Json) => ports.some(({ port }: Json) => port === 8081))
  assert.ok(nodesOnly.every(({ from }: Json) => from.every(({ namespaceSelector }: Json) => namespaceSelector === undefined)))
})

function containersOf(object: Json): readonly Json[] {
  return object.spec?.template?.spec.containers ?? []
}

/** The public port, as the image sets it. */
function portOfImage(): number {
  return Number(/TRUNKLINE_PORT=(\d+)/.exec(valuesOf(image, 'ENV').join(' '))?.[1])
}

/** A setting of the Kubernetes nodes. */
function settingIn(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(textOf('deploy/kubernetes/settings.env'))?.[1]
}
