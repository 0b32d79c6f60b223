import { css } from "lit";

/** Colours, poses and movement of the drawn cat. */
export const catStyle = css`
  :host {
    display: block;
  }

  svg {
    display: block;
    width: 100%;
    height: 100%;
    overflow: visible;
    stroke-linecap: round;
    stroke-linejoin: round;
  }

  svg * {
    transform-box: view-box;
  }

  .ground {
    fill: var(--ink);
    opacity: 0.08;
  }

  .fur {
    fill: #8796af;
  }

  .tail {
    fill: none;
    stroke: #74839d;
    stroke-width: 24;
    transform-origin: 222px 290px;
    animation: sway 5s ease-in-out infinite;
  }

  .bib,
  .muzzle,
  .paw {
    fill: #eef1f6;
  }

  .crease {
    fill: none;
    stroke: #66758f;
    stroke-width: 3;
    opacity: 0.55;
  }

  .inner {
    fill: #dcaaa4;
  }

  .stripes {
    fill: none;
    stroke: #66758f;
    stroke-width: 8;
  }

  .blush {
    fill: #e58f83;
    opacity: 0;
    transition: opacity 0.3s;
  }

  .iris {
    fill: #ffc65e;
  }

  .pupil {
    fill: #1f2530;
  }

  .light {
    fill: #ffffff;
  }

  .nose {
    fill: #d9817a;
  }

  .mouth,
  .shut {
    fill: none;
    stroke: #3a4456;
    stroke-width: 4;
  }

  .shut {
    stroke-width: 6;
  }

  .speak {
    fill: #8d3a35;
    transform-origin: 160px 168px;
  }

  .whiskers {
    stroke: #c9d1de;
    stroke-width: 2.5;
  }

  .band {
    fill: none;
    stroke: #d8603a;
    stroke-width: 14;
  }

  .bell {
    fill: #ffc65e;
  }

  .slit {
    stroke: #a8741d;
    stroke-width: 2.5;
  }

  .tear {
    fill: #6db9ee;
  }

  .wide,
  .speak,
  .shut,
  .tear {
    visibility: hidden;
  }

  /* Life */
  .body {
    transform-origin: 160px 314px;
    animation: breathe 4.2s ease-in-out infinite;
  }

  .head {
    transform-origin: 160px 190px;
    transition: transform 0.4s ease-out;
  }

  .look {
    transition: transform 0.4s ease-out;
  }

  .open {
    transform-origin: 160px 130px;
    animation: blink 5.4s linear infinite;
  }

  .ear.left {
    transform-origin: 110px 90px;
    animation: twitch 9s linear infinite;
  }

  .ear.right {
    transform-origin: 210px 90px;
    animation: twitch 9s linear -3.5s infinite;
  }

  /* States */
  [data-state="thinking"] .head {
    transform: rotate(-5deg);
  }

  [data-state="thinking"] .look {
    transform: translate(5px, -6px);
  }

  [data-state="talking"] .mouth {
    visibility: hidden;
  }

  [data-state="talking"] .speak {
    visibility: visible;
    animation: speak 0.42s ease-in-out infinite alternate;
  }

  [data-state="talking"] .head {
    animation: sway-head 1.6s ease-in-out infinite alternate;
  }

  /* Gestures, over any state */
  [data-gesture="nod"] .head {
    animation: nod 0.45s ease-in-out 2;
  }

  [data-gesture="shake"] .head {
    animation: shake 0.45s ease-in-out 2;
  }

  [data-gesture="blink"] .open {
    animation: none;
    transform: scaleY(0.06);
  }

  /* Expressions */
  [data-expression="smile"] .blush,
  [data-expression="squint-eyes"] .blush {
    opacity: 0.65;
  }

  [data-expression="smile"]:not([data-state="talking"]) .wide,
  [data-expression="squint-eyes"]:not([data-state="talking"]) .wide {
    visibility: visible;
  }

  [data-expression="smile"] .mouth:not(.wide),
  [data-expression="squint-eyes"] .mouth:not(.wide) {
    visibility: hidden;
  }

  [data-expression="squint-eyes"] .open {
    visibility: hidden;
  }

  [data-expression="squint-eyes"] .shut {
    visibility: visible;
  }

  [data-expression="tear-drop"] .two,
  [data-expression="tears"] .tear {
    visibility: visible;
  }

  [data-expression="tears"] .tear {
    animation: fall 1.4s ease-in infinite;
  }

  [data-expression="tears"] .two {
    animation-delay: 0.5s;
  }

  [data-expression="tears"] .ear,
  [data-expression="tear-drop"] .ear {
    animation: none;
  }

  [data-expression="tears"] .ear.left,
  [data-expression="tear-drop"] .ear.left {
    transform: rotate(-14deg);
  }

  [data-expression="tears"] .ear.right,
  [data-expression="tear-drop"] .ear.right {
    transform: rotate(14deg);
  }

  @keyframes breathe {
    50% {
      transform: scaleY(1.014);
    }
  }

  @keyframes sway {
    50% {
      transform: rotate(-6deg);
    }
  }

  @keyframes blink {
    0%,
    96%,
    100% {
      transform: none;
    }
    98% {
      transform: scaleY(0.06);
    }
  }

  @keyframes twitch {
    0%,
    94%,
    100% {
      transform: none;
    }
    96% {
      transform: rotate(-5deg);
    }
    98% {
      transform: rotate(3deg);
    }
  }

  @keyframes speak {
    from {
      transform: scaleY(0.3);
    }
    to {
      transform: scaleY(1);
    }
  }

  @keyframes sway-head {
    from {
      transform: rotate(-1.5deg);
    }
    to {
      transform: rotate(1.5deg) translateY(-2px);
    }
  }

  @keyframes nod {
    50% {
      transform: translateY(10px) scaleY(0.97);
    }
  }

  @keyframes shake {
    25% {
      transform: translateX(-8px) rotate(-3deg);
    }
    75% {
      transform: translateX(8px) rotate(3deg);
    }
  }

  @keyframes fall {
    70% {
      opacity: 1;
    }
    100% {
      transform: translateY(34px);
      opacity: 0;
    }
  }

  @media (prefers-reduced-motion: reduce) {
    svg,
    svg * {
      animation: none !important;
      transition: none !important;
    }
  }
`;
