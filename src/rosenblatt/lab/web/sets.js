// Points to choose from: generators, by the package's random numbers, and three measured sets.

import { mix } from "./engine.js";

/** Random numbers of a seed: SplitMix64. */
class Random {
	constructor(seed, stream = 0) {
		this.state = mix(BigInt(seed)) ^ mix(~BigInt(stream));
	}

	uniform(low = 0, high = 1) {
		this.state = BigInt.asUintN(64, this.state + 0x9e3779b97f4a7c15n);
		return low + (high - low) * Number(mix(this.state) >> 11n) * 2 ** -53;
	}

	normal(mean = 0, deviation = 1) {
		const length = Math.sqrt(-2 * Math.log(1 - this.uniform()));
		return mean + deviation * length * Math.cos(2 * Math.PI * this.uniform());
	}

	permutation(n) {
		const order = Array.from({ length: n }, (_, i) => i);
		for (let last = n - 1; last > 0; last--) {
			const chosen = Math.floor(this.uniform() * (last + 1));
			[order[last], order[chosen]] = [order[chosen], order[last]];
		}
		return order;
	}
}

const round = (value) => Math.round(value * 1000) / 1000 + 0; // few digits, to read and to share
const DIRECTION = [0.8, 0.6];

/**
 * Two clouds whose widest margin is the gap; below 0 they overlap by it. Three points lie that near, far
 * apart along the line, so that the first updates turn it away from where it should be.
 */
function blobs(random, { size, gap }, middle = [0.6, 0.4]) {
	const near = [random.uniform(1.8, 2.4), random.uniform(0.9, 1.3), random.uniform(-1.9, -1.3)];
	return Array.from({ length: size }, (_, i) => {
		const kind = i % 2 ? 0 : 1, sign = kind ? -1 : 1;
		const beyond = i < 3 ? 0 : Math.abs(random.normal(0, 0.8)), aside = i < 3 ? near[i] : random.normal(0, 1.1);
		const along = sign * (gap + beyond);
		return [along * DIRECTION[0] - aside * DIRECTION[1] + middle[0], along * DIRECTION[1] + aside * DIRECTION[0] + middle[1], kind];
	});
}

const GENERATORS = {
	blobs: (random, options) => blobs(random, options),
	origin: (random, options) => blobs(random, options, [0, 0]),
	circles: (random, { size }) =>
		Array.from({ length: size }, (_, i) => {
			const kind = i % 2 ? 0 : 1, turn = random.uniform(0, 2 * Math.PI);
			const distance = kind ? random.uniform(1.6, 2.2) : random.uniform(0, 1);
			return [distance * Math.cos(turn), distance * Math.sin(turn), kind];
		}),
	moons: (random, { size }) =>
		Array.from({ length: size }, (_, i) => {
			const kind = i % 2 ? 0 : 1, sign = kind ? -1 : 1, turn = random.uniform(0, Math.PI);
			return [sign * (Math.cos(turn) - 0.5) + random.normal(0, 0.08), sign * (Math.sin(turn) - 0.25) + random.normal(0, 0.08), kind];
		}),
	three: (random, { size, gap }) =>
		Array.from({ length: size }, (_, i) => {
			const kind = i % 3, turn = (2 * Math.PI * (kind + 1)) / 3 + 0.5, far = 1.2 + gap;
			const near = () => 0.45 * Math.max(-1.6, Math.min(1.6, random.normal()));
			return [far * Math.cos(turn) + near(), far * Math.sin(turn) + near(), kind];
		}),
	"500-then-500": (random, options) => blobs(random, { ...options, size: 1000 }).sort((a, b) => a[2] - b[2]),
};

const FIXED = {
	xor: [[-1, -1, 1], [-1, 1, 0], [1, -1, 0], [1, 1, 1]],
	boundary: [[-1, -1, 1], [1, 1, 0], [2, 0, 0], [-2, -1, 1], [2, -1, 0]], // the last one, after the first update
	empty: [],
};

const MEASURED = {
	iris: () => measured(IRIS, [10, 10], (i) => (i < 50 ? 0 : 1), ["petal length, cm", "petal width, cm"], ["setosa", "others"]),
	irises: () => measured(IRIS, [10, 10], (i) => Math.floor(i / 50), ["petal length, cm", "petal width, cm"], ["setosa", "versicolor", "virginica"]),
	virginica: () => {
		const all = measured(IRIS, [10, 10], (i) => (i < 100 ? 1 : 0), ["petal length, cm", "petal width, cm"], ["virginica", "versicolor"]);
		return { ...all, points: all.points.slice(50) };
	},
	sepals: () => measured(SEPALS, [10, 10], (i) => (i < 50 ? 1 : 0), ["sepal length, cm", "sepal width, cm"], ["versicolor", "setosa"]),
	"breast-cancer": () => measured(TUMOURS, [1000, 100], (i) => ((parseInt(BENIGN[i >> 2], 16) >> (3 - (i & 3))) & 1 ? 0 : 1), ["mean radius", "mean texture"], ["benign", "malignant"]),
	wine: () => measured(WINE, [100, 100], (i) => (i < 59 ? 0 : 1), ["alcohol", "flavanoids"], ["first kind", "others"]),
};

/** Points of a text with two numbers each, every number in two or three digits to the base 36. */
function measured(text, scales, kindOf, columns, classes) {
	const numbers = text.match(text === WINE || text === TUMOURS ? /.../g : /../g).map((digits) => parseInt(digits, 36));
	const points = Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i] / scales[0], numbers[2 * i + 1] / scales[1], kindOf(i)]);
	return { points, columns, classes };
}

/** The sets by their names: what the page calls them, in which group, and by which options. */
export const SETS = {
	blobs: { words: "blobs", group: "Generators", options: ["size", "gap", "seed", "noise"] },
	origin: { words: "blobs around the origin", group: "Generators", options: ["size", "gap", "seed", "noise"] },
	circles: { words: "circles", group: "Generators", options: ["size", "seed", "noise"] },
	moons: { words: "moons", group: "Generators", options: ["size", "seed", "noise"] },
	three: { words: "three blobs", group: "Generators", options: ["size", "gap", "seed", "noise"] },
	"500-then-500": { words: "500, then 500", group: "Generators", options: ["gap", "seed", "noise"] },
	xor: { words: "XOR", group: "By hand", options: [] },
	boundary: { words: "a point on the boundary", group: "By hand", options: [] },
	iris: { words: "iris: setosa", group: "Measured", options: [] },
	irises: { words: "iris: three kinds", group: "Measured", options: [] },
	virginica: { words: "iris: virginica", group: "Measured", options: [] },
	sepals: { words: "iris: the 99 sepals of 002", group: "Measured", options: [] },
	"breast-cancer": { words: "breast cancer", group: "Measured", options: [] },
	wine: { words: "wine", group: "Measured", options: [] },
	empty: { words: "no points", group: "By hand", options: [] },
};

export const OPTIONS = {
	size: { words: "Points", what: "The number of points", low: 2, high: 1000, step: 1, usual: 40 },
	gap: { words: "Gap", what: "The margin between blobs", low: -2, high: 5, step: 0.05, usual: 0.2 },
	seed: { words: "Seed", what: "A seed", low: 0, high: 4294967295, step: 1, usual: 0 },
	noise: { words: "Flipped labels", what: "The share of flipped labels", low: 0, high: 0.5, step: 0.05, usual: 0 },
};

/** The points of a set, each [x₁, x₂, number of its class], with the names of columns and classes. */
export function makeSet(name, options) {
	if (!SETS[name]) throw new Error(`There is no set “${name}”; there are ${Object.keys(SETS).join(", ")}.`);
	for (const [key, { what, low, high }] of Object.entries(OPTIONS)) {
		if (!(options[key] >= low && options[key] <= high)) throw new Error(`${what} must be from ${low} to ${high}; got ${options[key]}.`);
	}
	if (MEASURED[name]) return MEASURED[name]();
	if (FIXED[name]) return { points: FIXED[name].map((point) => [...point]), columns: [], classes: [] };
	const points = GENERATORS[name](new Random(options.seed), options);
	const kinds = name === "three" ? 3 : 2, flips = Math.round(options.noise * points.length);
	const flipped = new Random(options.seed, 1).permutation(points.length).slice(0, flips);
	for (const i of flipped) points[i][2] = (points[i][2] + 1) % kinds;
	return { points: points.map(([x, y, kind]) => [round(x), round(y), kind]), columns: [], classes: [] };
}

/** Petal length and width, in tenths, of 50 setosa, 50 versicolor and 50 virginica. */
const IRIS =
	"0e020e020d020f020e020h040e030f020e020f010f020g020e010b010c020f040d040e030h030f030h020f040a020h050j020g020g040f020e020g020g020f040f010e020f020c020d020e010d020f020d030d030d020g060j040e030g020e020f020e021b0e190f1d0f140d1a0f190d1b0g0x0a1a0d130e0z0a160f140a1b0e100d180e190f150a190f130b1c0i140d1d0f1b0c170d180e1c0e1e0h190f0z0a120b110a130c1f0g190f190g1b0f180d150d140d180c1a0e140c0x0a160d160c160d170d0u0b150d1o0p1f0j1n0l1k0i1m0m1u0l190h1r0i1m0i1p0p1f0k1h0j1j0l1e0k1f0o1h0n1j0i1v0m1x0n1e0f1l0n1d0k1v0k1d0i1l0l1o0i1c0i1d0i1k0l1m0g1p0j1s0k1k0m1f0f1k0e1p0n1k0o1j0i1c0i1i0l1k0o1f0n1f0j1n0n1l0p1g0n1e0j1g0k1i0n1f0i";
/** Sepal length and width, in tenths, of 50 setosa and 49 versicolor: the rows that 002 takes. */
const SEPALS =
	"1f0z1d0u1b0w1a0v1e101i131a0y1e0y180t1d0v1i111c0y1c0u170u1m141l181i131f0z1l121f121i0y1f111a101f0x1c0y1e0u1e0y1g0z1g0y1b0w1c0v1i0y1g151j161d0v1e0w1j0z1d10180u1f0y1e0z190n180w1e0z1f121c0u1f121a0w1h111e0x1y0w1s0w1x0v1j0n1t0s1l0s1r0x1d0o1u0t1g0r1e0k1n0u1o0m1p0t1k0t1v0v1k0u1m0r1q0m1k0p1n0w1p0s1r0p1p0s1s0t1u0u1w0s1v0u1o0t1l0q1j0o1j0o1m0r1o0r1i0u1o0y1v0v1r0n1k0u1j0p1j0q1p0u1m0q1e0n1k0r1l0u1l0t1q0t1f0p";
/** Alcohol and flavanoids, in hundredths, of 59, 71 and 48 wines of three kinds. */
const WINE =
	"13j08i10o07o10k09013x09p10s07h13g09f13z07013206z15708a12i08r13609813806r12707o14z0a913y0a411v08313q08q12f09g13f0ax11w08f13208t0zx06p1230800zp06l11i07910907g11708610y06312j08912y06h12509111q08v12007h12807m11j07111g08a10w07g10906r10b07c13i08g11o09511907g12k09w10s07b10908c13h07d13y08t12m09f13608412q09u10909312f08b12e0ae12907r12608211o07q13i08c10x08z1240a70yd01l0y90310z403x11z04z0yd08m0xt04v0yd07d10f08u0yd05k11203m0xx03k0y502u12i07y11h0541030810x805y0we04d10705n0ww03o0y90550za0730xc06a0zc0710xk04e10904f0ww0650z705e0xs04p0wd04h0wc04p0xk04f0xk0460xc03h0z90420y50690wa06a0yn06b0wt02r0y506y0yd0af0y508b0xk0610z003s0ya05v0wu04k0yr05c0yi0540y105n0zc04w0xy05o0w90840vu0760ys06b0wo05n0vp05l0xk06d0un0610wu04g0yi05t0zh03h0xc04k0vt07r0w40e40yi05x10907d0wz08f0xj07d0yj08r0wr0680yd06t0xg04v0zq03h0zs03e0zl0310za03c0yr01m0z001u0y101b0yt01o11h01c0zo01o0zx01e11401e11k01g11u0280y102610k01j12k00y0zr01t11002410c03v11i04d0zj03s10f03k10r02b0yy01m10l01r12g02b0yl01m13u03n11g0320yc02k12101k0zp01o10001y12a01w12501b11d02k0zm01u11q02c11802o0xw01d0zh01f13c01y12301p11802310v01x10l01w139024";
/** Mean radius, in thousandths, and texture, in hundredths, of 569 tumours, and which of them are benign. */
const TUMOURS =
	"dvq0sufve1ddf6y1n18t81kmfnm13u9lu17me2y1jiaku1lva141om9m41uscd01skc6c1dpesi1wwc8a1ujale1qtb7w24ibbs1jxcg21lgfaa1pjag413wa3c17n7c00ykbu413mgbs1s0cui1ned8419kb901ntecy1k9bt01y7dk215tedi1xr94w1fyd4s1umeva21jcg21docx01nzazu1oca1y1f6bke1y0aeg1luadc1ny8g61nbepq1wxa8w1kca5u1olee21cw6bo1asa5u1fu9aq14naeq1py92o1o0aiw19e97o1eoe241fybng1p68w01g3etm1flbcm1nza2i1hn6ne0wr7ui15c6mu1maazu1pj72t12i9s81u8bek1ui7ax1md8q61gw6yt1c59v019tem41n76uw14od9s1w4anc17v9hy19wcee1ilafu0uedxe18vfkk1ul9x81e08u21m9aak182jgk1x7eqk21199c17he8s1fgb681nmeoc1wb9jc1okbao16cba41uqbuy1r8a8m150adm1eubmc1j3fms1rz9ec1dk7jv1je8y80zob4k1ixai21xe5dx11b9ec1l07mc1hw83e1hla461788zc1ex9jc1fih6m1in8r01n27jl1b79qu1lob041il83y1k36qe17z97e1nt6wm17sbh21abc6c1rndum1jl8sy0u2eec1bkipm1k4b6s0u9abe19jaoq1btai21wlens1gjbng19jf9q1xs9em10xbxg1i4cgw1nuc4e12pe8i1ov9uq1qf91a1ab8ti16rbja1ct8pc1177ii0x9cfi1e58ti1c39yc1888am15l96k14p93s1a2bja1g5b54166alo1dra141lq6cb1li7ib16m8lq10ca5a16m9ga1dudn41lmczs1i29b00ze8es10092e1k2et218af461ef9is1pqhye1p8bju1iw8c00qzcy41g8dha1wkbju1b39i80yfad21ijbxg0x18js14v8841636ov1457n41e6cp81jva1e1pq9vu10al041org9u21tc441kf8sy15gbsg1q97s015ze4m1fm91a1br9421cb9ho186az01s89uq1nh7i01em9is22mbgs1sh9ym19dami1pxdy81ooess1qhb5e1k69fq1icdj81hohyy223anm1tz9me1fobo01ac7mc1bzd4i1kaa461qmbs60zvfvo1pi94w1gmlou1fbdfw1z0ay61u5ap01b196a1ez7vc1ckfa01nwf2i2i7aj610kago12m7us1cpc5i1k9a8m1bab2c11f82016ybko1739qk1ul9we1q1d5m1h08qg2388no2lxftq2597dr187atq1n1hwq22xfsw1nmaz025ddh0314aiw17c9l015s8pw1ejaly1u1eyw1ta8341j6a6o1cf9y213787u1y28w015hg5o1tg8vg1f9f821j2dck1bgf0a1hpars1bdf3227xbtk1bzc301sgbze2l8fo6236ddy1s2dca1phc1m1hud9i1pbfzu2eg86g1gnahi1oo9xi19189i1knb0y1aq8pm108gs61mb7im17jdu21w096a1c88qq13ceii1jiahi1dkaoq166es821w92412yeyw1eicj41g59y217m9pg1f497o1lo9y210g8os1jg8ru1ghb4a1itbjk1h29zq18i9561ci9tc12aami10v8f20yb92o1eeb041eh83y1s5f2i1gi9m41j9fi21ua83e1fp8uc1eg8y81w1a6o17y6y0140af00zba2i12g9101h3b9u17l9ug1158wk0ts6mt1fo9my1at9ec134e241gf6z61gi9la1b87wq18yfk01im9x8110fp01nr9ew1699ry1c2avy0zs9a61dtcjy1ljcjo1oscda173a0k1hr8no1j68oi1529ho1gud5w1mca0u13jehe1nj7r61cpi521vfb4k19y7eu1as8j815kf6o1o891a16x7x014v9b01gibe014y8um18j97y15k8zw1bfc5i1hejuq1cibmw1zi8lg1339ow1gza2i1fnapa1916um1717a41ew9oc1e7a9g1nx9ug1gccqc1etac81b3frs1oifl422j9f61e2gr21bxgze1oucm61spbpy10pghm15yfxc1c7aka18nch618n85m1k6adw26dajg1638js1gb8p21008io15h9aq1r49k61cka8w124b9k1sp9f6135apk18w8p2172f321sh7x00xy6qm1asbya1jhgoa1pw9c41d8auk1bqafa1gh9vk1ci8j815793s1bydti1me97e0uba001et9zg18x9is15j8fw1fncgc15a9wy1nddvq1le9gu1ds8rk1ct8io1ar7911o8bke1pfboa2at96a1mt7991oabyk1mk9ss0xt8m01nh8xe1gwbc212u8yi18iajg1h57im1h47qm1n483415m8c01p28l61a69tc1d3bhw1ql9kg1d4fkk1iaeis1p1bgs1b2asc1ii9xi1iaau018eaoq1igatg17i8gq1bsdbq1ymams17v85m1ewdwu1at9921x5dp225vbf41d2b7m1hqga41l095q1nuf461xg99c26fb7m12u9qk1bnabo2dc8z229da6y1y5a141xt7iz26cd6g23fl5o20zb4022z8y81f0a5u1ema7s1jxa501lm7gk1eadkw1st8ys1ei7gj1fd9ag266big15h9gu2b98e817e9we17payg1l1aq41a68v614jcje1i79ds1e3aq41hgae6132akk1d0c4y0vc9lu19lbao1atf001ga90g18xcvm1k49ga1qcdru10rdwa1l49m40zna5k1l2bh21k59re1eh9me1c3e9m1cofvy1n0bls1aianw1w19oc19chte1j375g0zr7gs10i9fg1jo8j81bkcks17mbxg1uj92414tbfe14uac81l0b9011ybm21gz8r01fpe4m1l6fci1ka9xs1em9u61ae76712mj061o08os1j3aku1fw7lj17k6m310eadw1g39is0y3ar810l9ba11c92e1cs9061jmak019dfsm1lf8gg1cyfuu1lyb0e1qn90q1vw5yp1yt5xn1yo8wk144b5y1xfbdg1yma6y25yapa1liaic1sj7yo19f7x01a27gz1hq8ck1v98do1no8l61qc9uq29r7791oy9xs28c7xu24p7u81if79r25gb9a1r08vq1uhaua23f8n429lbqs2d2g541xpgmw1q7fj626hct4260fw829h5zk1w6";
const BENIGN =
	"00001c000402f93d3d29c8ece7b7f89ca4dbdff79667b15d908ad0cef9b2f7d0003f5b4fffb5fffbaf1eaefe3ff913efbb3f7f7dbffd2fb5aff3f7fefeb7cafb53bffa7fffffc08"; // four tumours a digit