/** Settings of brokers: each adapter has a table, and all tables are read, documented and redacted in the same way. */

import { ADAPTERS, type BrokerSetting, type Offer, SettingMissing } from '@trunkline/brokers/registry'
import { oneOf, type Setting, type SettingFault, text } from './setting.ts'

/** The settings of all adapters, by their names in the environment. */
export const BROKER_SETTINGS: Readonly<Record<string, Setting<string>>> = Object.fromEntries(
  ADAPTERS.flatMap(({ capabilities, settings }) => settings.map(setting => [setting.env, rowOf(capabilities.name, setting)]))
)

/** Brokers this version has adapters for. */
export const KNOWN_BROKERS: readonly string[] = ADAPTERS.map(({ capabilities }) => capabilities.id)

/** The brokers with these names and their settings, and the faults of any of them. `texts` has every name of {@link BROKER_SETTINGS}. */
export function readOffers(
  names: readonly string[],
  texts: Readonly<Record<string, unknown>>
): { readonly offers: readonly Offer[]; readonly faults: readonly SettingFault[] } {
  const faults: SettingFault[] = []
  const unknown = names.filter(name => !KNOWN_BROKERS.includes(name))
  if (unknown.length > 0)
    faults.push({
      env: 'TRUNKLINE_BROKERS',
      message: `names ${unknown.join(', ')}, which is not known here; there are ${KNOWN_BROKERS.join(', ')}`
    })
  const offers = ADAPTERS.flatMap(adapter => {
    try {
      return [adapter.offer(env => String(texts[env] ?? ''))]
    } catch (cause) {
      if (!(cause instanceof SettingMissing)) throw cause
      faults.push({ env: cause.env, message: cause.message })
      return []
    }
  })
  // In the order of their names in the setting: the portal shows them so.
  const byName = new Map<string, Offer>(offers.map(offer => [offer.id, offer]))
  return { offers: names.flatMap(name => byName.get(name) ?? []), faults }
}

function rowOf(name: string, { env, about, fallback, allowed, secret }: BrokerSetting): Setting<string> {
  const [first, ...others] = allowed ?? []
  const parse = first === undefined ? text : oneOf(first, ...others)
  return { group: name, env, parse, fallback, about, ...(secret === true ? { secret } : {}) }
}
