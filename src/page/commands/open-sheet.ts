/** Which sheet is open over the views: the command palette, the list of keys, or none. */
import { signal } from '@preact/signals'

export type SheetName = 'palette' | 'help'

export const openedSheet = signal<SheetName | null>(null)

export function openSheet(name: SheetName): void {
  openedSheet.value = name
}
