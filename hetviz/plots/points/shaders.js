// Shaders for points and their shapes, links, and the overlay where the map is unreliable. See
// renderer.js for the layout of the attributes.

const HEAD = "#version 300 es\nprecision highp float; precision highp int;\n";

// Positions are whole numbers of 20 bits: sixteen in one attribute, four in the last byte of another.
const PLACE = `uniform vec4 uNow, uOld; uniform float uShare;
vec2 place(uvec2 now, uint low, uvec2 old) {
  vec2 p = vec2(now * 16u + uvec2(low & 15u, low >> 4)) * uNow.xy + uNow.zw;
  return uShare < 1. ? mix(vec2(old) * uOld.xy + uOld.zw, p, uShare) : p;
}
`;

export const POINT_VERTEX = `${HEAD}${PLACE}
layout(location=0) in uvec2 aNow; layout(location=1) in uvec2 aOld; layout(location=2) in uvec4 aMeta;
uniform sampler2D uPalette, uField;
uniform vec2 uKind[8]; // per dataset: shape, relative size
uniform vec3 uGround;
uniform float uSize, uAlpha, uAny, uFaded, uPer, uSplat;
flat out vec4 vColour; flat out int vShape; flat out float vSize;
void main() {
  uint state = aMeta.x & 15u; vec2 kind = uKind[(aMeta.x >> 4) & 7u];
  gl_Position = vec4(place(aNow, aMeta.w, aOld), 0., 1.);
  if ((state & 4u) != 0u) gl_Position.x = 9.; // hidden: moved outside the window
  if (uSplat > .5) { // into the field: number of points, and their trust
    float hasTrust = aMeta.z <= 200u ? 1. : 0.;
    gl_PointSize = 3.; vSize = 3.; vShape = -1;
    vColour = vec4(1., hasTrust * min(float(aMeta.z) / 200., 1.), hasTrust, 1.);
    return;
  }
  bool focus = uAny > .5 && (state & 3u) != 0u, faded = uAny > .5 && !focus;
  vSize = uSize * kind.y * (focus ? ((state & 2u) != 0u ? 1.25 : 1.12) : 1.);
  // Overlapping dots become more transparent, so dense places show structure.
  float over = texture(uField, gl_Position.xy * .5 + .5).r * uPer * vSize * vSize;
  float alpha = focus ? min(uAlpha * 1.06, 1.) : uAlpha * clamp(pow(max(over, 1.), -.6), .04, 1.);
  vec3 colour = texelFetch(uPalette, ivec2(aMeta.y, 0), 0).rgb;
  if (faded) colour = mix(uGround, colour, uFaded); // paler, never grey
  else if (!focus && (state & 8u) != 0u) colour = mix(uGround, colour, .3); // an unstable position
  vColour = vec4(colour, alpha);
  gl_Position.z = faded ? .5 : 0.;
  vShape = int(kind.x); gl_PointSize = vSize + 3.;
}`;

export const POINT_FRAGMENT = `${HEAD}
flat in vec4 vColour; flat in int vShape; flat in float vSize;
uniform float uRim; uniform vec3 uGround; out vec4 frag;
float polygon(vec2 p, float r, float n) {
  float step = 6.28318 / n, a = mod(atan(p.x, -p.y) + step * .5, step) - step * .5;
  return length(p) * cos(a) - r;
}
void main() {
  if (vShape < 0) { // a tent over the neighbouring cells
    vec2 w = 1.5 - abs(gl_PointCoord * 3. - 1.5);
    frag = vColour * w.x * w.y * .16;
    return;
  }
  vec2 p = (gl_PointCoord - .5) * (vSize + 3.), q = abs(p);
  float r = vSize * .5, d;
  if (vShape == 0) d = length(p) - r;
  else if (vShape == 1) d = (q.x + q.y) * .7071 - r * .78;
  else if (vShape == 2) d = max(q.x, q.y) - r * .92;
  else if (vShape == 3) d = polygon(p, r * .56, 3.);
  else if (vShape == 4) d = max(min(q.x, q.y) - r * .36, max(q.x, q.y) - r);
  else if (vShape == 5) {
    float a = mod(atan(p.x, -p.y) + .62832, 1.25664) - .62832;
    d = dot(length(p) * vec2(cos(a), abs(sin(a))) - vec2(r, 0.), vec2(.588, .809));
  } else if (vShape == 6) d = polygon(p.yx, r * .9, 6.);
  else d = polygon(vec2(p.x, -p.y), r * .56, 3.);
  float edge = uRim * .5, all = clamp(.5 - (d - edge), 0., 1.);
  if (all < .01) discard;
  // A rim in the background colour separates dots that touch.
  float inner = clamp(.5 - (d + edge), 0., 1.);
  vec3 colour = uRim > 0. ? mix(uGround, vColour.rgb, inner / max(all, 1e-3)) : vColour.rgb;
  float alpha = vColour.a * all;
  frag = vec4(colour * alpha, alpha);
}`;

export const LINK_VERTEX = `${HEAD}${PLACE}
layout(location=0) in uvec4 aNow; layout(location=1) in uvec4 aOld; layout(location=2) in uvec4 aFour;
uniform sampler2D uPalette; uniform vec2 uPixels; uniform float uWide, uAlpha;
out vec4 vColour; out float vSide;
void main() {
  vec2 a = place(aNow.xy, aFour.z, aOld.xy), b = place(aNow.zw, aFour.w, aOld.zw);
  float side = float(gl_VertexID & 1) * 2. - 1.;
  vec2 way = (b - a) * uPixels; way /= max(length(way), 1e-6);
  vSide = side * (uWide * .5 + 1.);
  gl_Position = vec4((gl_VertexID > 1 ? b : a) + vec2(-way.y, way.x) * vSide / uPixels, .4, 1.);
  vColour = vec4(texelFetch(uPalette, ivec2(aFour.x, 0), 0).rgb, 1.) * uAlpha * float(aFour.y) / 255.;
}`;

export const LINK_FRAGMENT = `${HEAD}
in vec4 vColour; in float vSide; uniform float uWide; out vec4 frag;
void main() { frag = vColour * clamp(uWide * .5 + .5 - abs(vSide), 0., 1.); }`;

export const TRUST_VERTEX = `${HEAD}out vec2 vAt;
void main() { vAt = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.; gl_Position = vec4(vAt * 2. - 1., 0., 1.); }`;

// The picture with a hatched overlay where the trust is low, full below .35, none from .65.
export const TRUST_FRAGMENT = `${HEAD}
in vec2 vAt; uniform sampler2D uPicture, uField; uniform vec3 uGround, uHatch; uniform float uRatio;
out vec4 frag;
void main() {
  vec4 picture = texture(uPicture, vAt), f = vec4(0.); // f: the sum over the cells around
  for (int i = -2; i <= 2; i++) for (int j = -2; j <= 2; j++)
    f += exp(-.35 * float(i * i + j * j)) * texture(uField, vAt + 1.7 * vec2(i, j) / vec2(textureSize(uField, 0)));
  float depth = clamp((.65 - f.g / max(f.b, 1e-3)) / .3, 0., 1.) * smoothstep(.1, 1.2, f.b);
  float line = clamp(1.2 - abs(mod((gl_FragCoord.x + gl_FragCoord.y) / uRatio, 8.) - 4.), 0., 1.);
  float pale = .75 * depth, hatch = .42 * line * depth;
  frag = mix(mix(picture, vec4(uGround, 1.), pale), vec4(uHatch, 1.), hatch);
}`;
