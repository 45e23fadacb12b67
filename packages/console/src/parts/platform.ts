// The platform whose records a list shows.
import { get } from '../api.ts'
import { useRecord } from '../reads.ts'
import type { Choice } from './filters.tsx'

/** The platforms to choose from. `chosen`: the one that was, or the only one; undefined while several are not chosen from. */
export function usePlatform(given: string | undefined): { readonly choices: readonly Choice[]; readonly chosen: string | undefined } {
  const { data } = useRecord(get('/platforms', {}))
  const choices = (data?.data ?? []).map(({ platform_id: value, name }) => ({ value, label: name }))
  return { choices, chosen: given ?? (choices.length === 1 ? choices[0]?.value : undefined) }
}
