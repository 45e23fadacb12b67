// The filters of a list. They are part of the address, so a filtered list can be linked, and the browser goes back to it.
import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { TextField } from 'react-aria-components/TextField'

/** A value of a filter, and its name for people. */
export interface Choice {
  readonly value: string
  readonly label: string
}

/** A filter: a text, or one of some values. */
export interface Filter<Name extends string> {
  readonly name: Name
  readonly label: string
  readonly choices?: readonly Choice[]
  /** Of the choice of no value. */
  readonly none?: string
}

interface FilterFormProps<Name extends string> {
  readonly filters: readonly Filter<Name>[]
  readonly current: { readonly [name in Name]?: string }
  readonly apply: (chosen: { [name in Name]?: string }) => void
}

/** Applied by Enter or the button. Give it a `key` of the current filters, so that it follows the address. */
export function FilterForm<Name extends string>({ filters, current, apply }: FilterFormProps<Name>): ReactNode {
  const [chosen, setChosen] = useState<{ readonly [name in Name]?: string }>(current)
  const set = (name: Name, value: string) => setChosen(before => ({ ...before, [name]: value }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const given: { [name in Name]?: string } = {}
    for (const { name } of filters) {
      const value = chosen[name]?.trim()
      if (value !== undefined && value !== '') given[name] = value
    }
    apply(given)
  }
  const clear = () => {
    // The address may stay as it is, and with it this form: what was typed and not applied goes too.
    setChosen(current)
    apply({})
  }
  return (
    <form className="filters" onSubmit={submit}>
      {filters.map(({ name, label, choices, none = 'Any' }) =>
        choices === undefined ? (
          <TextField key={name} className="field" value={chosen[name] ?? ''} onChange={value => set(name, value)}>
            <Label>{label}</Label>
            <Input className="input" autoCapitalize="none" spellCheck="false" />
          </TextField>
        ) : (
          <label key={name} className="field">
            {label}
            <select className="input" value={chosen[name] ?? ''} onChange={event => set(name, event.target.value)}>
              <option value="">{none}</option>
              {withCurrent(choices, chosen[name]).map(({ value, label: text }) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        )
      )}
      <Button className="button primary" type="submit">
        Apply
      </Button>
      <Button className="button" onPress={clear}>
        Clear
      </Button>
    </form>
  )
}

/** A value of the address stays, also where the choices do not have it (yet). */
function withCurrent(choices: readonly Choice[], current: string | undefined): readonly Choice[] {
  if (current === undefined || current === '' || choices.some(({ value }) => value === current)) return choices
  return [...choices, { value: current, label: current }]
}

/** Values that are their own names. */
export function choicesOf(values: readonly string[]): readonly Choice[] {
  return values.map(value => ({ value, label: value }))
}
