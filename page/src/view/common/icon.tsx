// Icons of lucide, drawn as elements: no HTML is set anywhere.

import {
  Activity,
  Bell,
  BellOff,
  BellRing,
  ArrowDown,
  ArrowUp,
  ChevronDown,
  ChevronLeft,
  ChevronRight,
  CircleHelp,
  Copy,
  CornerDownRight,
  FileDiff,
  GitBranch,
  Info,
  ListTree,
  Menu,
  Moon,
  Paperclip,
  Pencil,
  Plus,
  RefreshCw,
  Search,
  Send,
  Settings,
  Square,
  Sun,
  SunMoon,
  Undo2,
  Redo2,
  X,
  type IconNode,
} from "lucide";
import { h } from "preact";

const ICONS = {
  activity: Activity,
  off: BellOff,
  silent: Bell,
  sound: BellRing,
  down: ArrowDown,
  up: ArrowUp,
  open: ChevronDown,
  back: ChevronLeft,
  closed: ChevronRight,
  help: CircleHelp,
  copy: Copy,
  steer: CornerDownRight,
  diff: FileDiff,
  branch: GitBranch,
  info: Info,
  tree: ListTree,
  menu: Menu,
  dark: Moon,
  attach: Paperclip,
  edit: Pencil,
  plus: Plus,
  again: RefreshCw,
  search: Search,
  send: Send,
  settings: Settings,
  stop: Square,
  light: Sun,
  system: SunMoon,
  undo: Undo2,
  redo: Redo2,
  close: X,
} satisfies Record<string, IconNode>;

export type IconName = keyof typeof ICONS;

export function Icon({ name, size = 14 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {(ICONS[name] as IconNode).map(([tag, attributes]) => h(tag, attributes as Record<string, string>))}
    </svg>
  );
}
