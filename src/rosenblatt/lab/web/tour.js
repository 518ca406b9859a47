// The guided tour: a stop for every concept of the five textbook pages (docs/textbook.md).

const END = 9999; // the last moment, whatever its number

/** @type {{title: string, text: string, document: string, address: string, ways?: [string, string][]}[]} */
export const TOUR = [
	{
		title: "A line between two classes",
		text: "Squares are +1, circles −1, and one line has them on its two sides. Drag a square across: the line is learnt again while you drag. Click to place a point, Delete removes it. The grey triangle has no label; the line decides its class.",
		document: "000, problem statement", address: `data=blobs&size=30&gap=0.4&order=fixed&ask=1.6,-0.4&t=${END}`,
	},
	{
		title: "A mistake, and sgn(0)",
		text: "Learning starts from w = 0, where every activation is 0. Is that a mistake? Here it is, so the first row met moves w. The pages differ: 000 says sgn(0) = +1, 001 says −1, 002 calls it a mistake. With “+1”, the last point of this set ends on the line and is right.",
		document: "000 and 001, sgn; 002, the test", address: "data=boundary&order=fixed&t=1",
		ways: [["0 is a mistake", `data=boundary&order=fixed&t=${END}`], ["0 is +1", `data=boundary&order=fixed&ties=positive&t=${END}`]],
	},
	{
		title: "The update, as vectors",
		text: "A mistake adds y·x to w and y to b. In the panel, y·x starts at the tip of w and ends at w′, at true length. y·(w·x + b) rises by exactly ‖x‖² + 1. Step on and back.",
		document: "001, why does this work?; 004, the new activation", address: "data=blobs&size=30&gap=0.15&seed=3&order=fixed&t=3",
	},
	{
		title: "Angles",
		text: "Through the origin, the sign of w·x is that of cos ∠(w, x). The update turns w towards a square in use and away from a circle in use. It may turn away from others: watch the angles before and after.",
		document: "001, angles below and above 90°", address: "data=origin&size=24&gap=0.15&seed=2&form=origin&order=fixed&t=2",
	},
	{
		title: "Bias and origin",
		text: "Left, b shifts the line away from the origin; right, the line must pass through it, and these points cannot be separated that way. The panel shows why the bias is one more weight: each point becomes (x₁, x₂, 1), and the plane passes through 0.",
		document: "000, x₀ = 1; 003, through the origin; 004, the bias", address: `data=blobs&size=30&gap=0.3&order=fixed&compare=on&b.form=origin&b.order=fixed&panel=space&t=${END}`,
	},
	{
		title: "Projection on w",
		text: "w·x is how far a point lies along w, times ‖w‖. The strip shows all points along w and the threshold −b/‖w‖. Only the direction of w matters for the classes, not its length.",
		document: "004, geometric interpretation", address: `data=blobs&size=60&gap=0.25&order=fixed&panel=strip&t=${END}`,
	},
	{
		title: "The rate η",
		text: "From zero weights, η only scales w and b: both sides make the same mistakes and end with the same line. From another start it would matter.",
		document: "000 and 002, η", address: `data=blobs&size=40&gap=0.1&order=fixed&compare=on&b.order=fixed&b.eta0=0.1&t=${END}`,
	},
	{
		title: "Convergence",
		text: "Go to the start and play. The number of misclassified points goes up and down, but the updates end: a pass without a mistake proves that the line separates.",
		document: "004, convergence and linear separability", address: `data=blobs&size=120&gap=0.05&t=${END}`,
	},
	{
		title: "Order",
		text: "500 squares, then 500 circles. In the order given (left) the perceptron first learns to say +1, then −1, and needs many more epochs than with a new permutation in each epoch (right).",
		document: "004, the order of the examples", address: `data=500-then-500&gap=0.05&order=fixed&compare=on&t=${END}`,
	},
	{
		title: "All mistakes at once",
		text: "Gradient descent on the loss J would add up all mistakes of the same weights before it moves: one update in each pass (left). The usual perceptron moves at every mistake (right). Step through both: a batch takes long steps and more passes.",
		document: "000, gradient descent or SGD", address: `data=blobs&size=40&gap=0.15&order=batch&compare=on&b.order=fixed&t=${END}`,
	},
	{
		title: "Margin and bound",
		text: "The wider the margin γ, the fewer mistakes: at most (R/γ)², in any order. The chart shows why: after M mistakes, the length of w is at least γM and at most R√M. The panel “Gap” compares the bound with mistakes made.",
		document: "002, Novikoff; 004, the convergence theorem", address: `data=blobs&size=60&gap=0.1&order=fixed&curve=length&panel=gap&t=${END}`,
	},
	{
		title: "The bound (2R/γ)²",
		text: "002 moves the bias by R². Its theorem says: at most (2R/γ)² mistakes. The verdict shows this number beside the bound with the bias as a coordinate of size R.",
		document: "002, primal form and Novikoff’s theorem", address: `data=blobs&size=60&gap=0.3&order=fixed&intercept_step=radius&curve=length&t=${END}`,
	},
	{
		title: "A demanded margin",
		text: "Left stops as soon as every point is right. Right counts a point as a mistake until y·(w·x + b) exceeds 5: it works longer, and its line keeps a wider margin.",
		document: "004, margin", address: `data=blobs&size=40&gap=0.3&order=fixed&compare=on&b.order=fixed&b.margin=5&t=${END}`,
	},
	{
		title: "The dual form and the Gram matrix",
		text: "Instead of w, count the mistakes α at each point (the numbers): w = Σ αᵢyᵢxᵢ. Learning then needs only the products xᵢ·xⱼ, the Gram matrix in the panel. The row in use is framed.",
		document: "002 and 003, the dual form", address: `data=origin&size=24&gap=0.1&form=origin&order=fixed&dual=on&panel=gram&t=${END}`,
	},
	{
		title: "No line for XOR",
		text: "The segments between two squares and between two circles cross at the star. What lies between squares is on their side of any line, so no line has the circles on the other. The rule would never stop.",
		document: "004, limitations", address: `data=xor&order=fixed&max_iter=20&t=${END}`,
	},
	{
		title: "One more feature",
		text: "The product x₁·x₂ as a third feature lifts the points into space, where a plane separates them. Seen from the plane, the boundary x₁x₂ = 0 is a cross. Drag the panel to turn it.",
		document: "004, feature combinations", address: `data=xor&form=lifted&order=fixed&panel=space&t=${END}`,
		ways: [["XOR, product", `data=xor&form=lifted&order=fixed&panel=space&t=${END}`], ["Circles, square", `data=circles&form=lifted&third=square&order=fixed&panel=space&t=${END}`]],
	},
	{
		title: "Kernels",
		text: "A kernel does the same without writing features down: it replaces x·x′ by K(x, x′). The verdict is then about the kernel’s space. A Gaussian kernel separates any points that are not equal.",
		document: "002, kernels", address: `data=circles&form=kernel&kernel=rbf&order=fixed&panel=gram&t=${END}`,
		ways: [["XOR, degree 2", `data=xor&form=kernel&kernel=poly&order=fixed&panel=gram&t=${END}`], ["Circles, Gaussian", `data=circles&form=kernel&order=fixed&panel=gram&t=${END}`], ["Moons, degree 3", `data=moons&form=kernel&kernel=poly&degree=3&t=${END}`]],
	},
	{
		title: "Networks of units",
		text: "Several perceptrons together: unit 2 turns unit 1 off where it is wrong. Each unit is trained by the perceptron rule.",
		document: "004, neural networks", address: `data=xor&form=network&panel=units&t=${END}`,
		ways: [["XOR", `data=xor&form=network&panel=units&t=${END}`], ["Circles", `data=circles&form=network&panel=units&t=${END}`]],
	},
	{
		title: "Averaged and voted",
		text: "With noise, the last weights depend on the last mistake. Left: the last line. Right: the average of all lines, each counted as long as it survived. Hollow points are held out.",
		document: "004, beyond the last weights", address: `data=blobs&size=80&gap=-0.1&seed=5&noise=0.05&halved=on&compare=on&b.solution=average&max_iter=10&b.max_iter=10&t=${END}`,
		ways: [["Average", `data=blobs&size=80&gap=-0.1&seed=5&noise=0.05&halved=on&compare=on&b.solution=average&max_iter=10&b.max_iter=10&t=${END}`], ["Vote", `data=blobs&size=80&gap=-0.1&seed=5&noise=0.05&halved=on&compare=on&b.solution=vote&max_iter=10&b.max_iter=10&t=${END}`]],
	},
	{
		title: "Passes and overfitting",
		text: "Half of the points are held out (hollow, dotted in the chart). A narrow Gaussian kernel goes on until every training point is right. Compare the errors on the held-out points after one pass and at the end.",
		document: "004, the number of passes", address: `data=moons&size=120&noise=0.1&halved=on&form=kernel&gamma=20&order=fixed&curve=share&t=${END}`,
	},
	{
		title: "Noise and cycling",
		text: "Points of both classes overlap: no line separates them, and the updates never end. In a fixed order the weights of XOR come back: step until the page says “the same weights as after update …”. They stay bounded all the same.",
		document: "004, if the data are not separable", address: `data=xor&order=fixed&max_iter=12&curve=length&t=8`,
		ways: [["XOR cycles", "data=xor&order=fixed&max_iter=12&curve=length&t=8"], ["Overlapping blobs", `data=blobs&gap=-0.2&size=60&max_iter=50&t=${END}`]],
	},
];
