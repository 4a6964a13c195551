"""Interior-point method for the pairwise hinge loss on listed pairs (Mehrotra 1992), and a robust linear solver."""

from __future__ import annotations

import math

import numpy as np

from searchlab.types import Array


def solve_listed(
    differences: Array, margins: Array, costs: Array, pull: Array, lam: float, start: Array, enough: float
) -> tuple[Array, Array, int]:
    """The α of listed pairs to a gap of `enough`, the weights, and the number of steps.

    `differences` are the rows Δ of x_i − x_j, `margins` what Δw should be at least (1, less what the centre gives), and
    `pull` is Σ α(x_i − x_j) of all other pairs. The optimality conditions are 2λw = pull + Δᵀα, Δw + ξ − s = margins,
    α·s = 0 and (c − α)·ξ = 0, with all but w ≥ 0. Newton's method is applied to them with both products equal to a
    target that goes to 0.
    """
    weights = start
    alphas = costs / 2
    rest = costs - alphas
    lack = margins - differences @ weights
    begin = float(np.abs(lack).mean()) + 1e-3
    loss, surplus = np.maximum(lack, 0) + begin, np.maximum(-lack, 0) + begin
    best, best_weights, best_gap = alphas, weights, math.inf
    n_steps = 0
    while n_steps < 100:
        dual_weights = (pull + alphas @ differences) / (2 * lam)
        # Both kinds of weights converge to the same; where the α cancel each other, the free weights are more exact.
        dual = float(alphas @ margins) - lam * float(dual_weights @ dual_weights)
        for candidate in (dual_weights, weights):
            missing = float(costs @ np.maximum(margins - differences @ candidate, 0))
            gap = lam * float(candidate @ candidate) - float(pull @ candidate) + missing - dual
            if gap < best_gap:
                best, best_weights, best_gap = alphas, candidate, gap
        if best_gap <= enough:
            break
        n_steps += 1
        off_dual = 2 * lam * (dual_weights - weights)
        off_margin = margins - differences @ weights - loss + surplus
        slack = 1.0 / (loss / rest + surplus / alphas)
        system = differences.T @ (slack[:, None] * differences)
        system.flat[:: len(system) + 1] += 2 * lam
        if not np.isfinite(system).all():
            break
        products = float(alphas @ surplus + rest @ loss) / (2 * len(costs))
        target, first_correction, second_correction = 0.0, np.zeros_like(alphas), np.zeros_like(alphas)
        # Predictor and corrector: first the longest possible step, then the right target and second-order terms.
        for _ in range(2):
            first, second = target - alphas * surplus - first_correction, target - rest * loss + second_correction
            right = off_margin - second / rest + first / alphas
            if not np.isfinite(right).all():
                return np.clip(best, 0.0, costs), best_weights, n_steps
            d_weights = solve_positive(system, off_dual + (slack * right) @ differences, 2 * lam)
            d_alphas = slack * (right - differences @ d_weights)
            d_surplus = (first - surplus * d_alphas) / alphas
            d_loss = (second + loss * d_alphas) / rest
            first_correction, second_correction = d_alphas * d_surplus, d_alphas * d_loss
            dual_step = min(_max_step(alphas, d_alphas), _max_step(rest, -d_alphas))
            step = min(dual_step, _max_step(surplus, d_surplus), _max_step(loss, d_loss))
            ahead = (alphas + step * d_alphas) @ (surplus + step * d_surplus)
            ahead += (rest - step * d_alphas) @ (loss + step * d_loss)
            target = products * min(1.0, float(ahead) / (2 * len(costs)) / products) ** 3
        step *= 0.99 if step < 1 else 1.0
        if not step > 1e-12:
            break
        weights = weights + step * d_weights
        alphas = np.maximum(alphas + step * d_alphas, 1e-300)
        rest = np.maximum(rest - step * d_alphas, 1e-300)
        surplus = np.maximum(surplus + step * d_surplus, 1e-300)
        loss = np.maximum(loss + step * d_loss, 1e-300)
    return np.clip(best, 0.0, costs), best_weights, n_steps


def _max_step(values: Array, changes: Array) -> float:
    """The largest factor, at most 1, of the changes that leaves the values at or above 0."""
    falling = changes < 0
    return min(1.0, float(np.min(-values[falling] / changes[falling]))) if falling.any() else 1.0


def solve_positive(matrix: Array, right: Array, least: float) -> Array:
    """The solution of a symmetric system without eigenvalues below `least`, except by rounding."""
    # With a diagonal of ones, features of different magnitudes do not impair the precision.
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(matrix), least))
    scaled = matrix * scale[:, None] * scale
    # No eigenvalue of the scaled matrix is below this.
    is_well_conditioned = bool(np.all(least * scale * scale > 1e-8))
    if not is_well_conditioned:
        try:
            is_well_conditioned = bool(np.diagonal(np.linalg.cholesky(scaled)).min() > 1e-5)
        except np.linalg.LinAlgError:
            is_well_conditioned = False
    if is_well_conditioned:
        return np.asarray(scale * np.linalg.solve(scaled, scale * right))
    # Nearly collinear features: steps are bounded in directions in which only rounding errors are left.
    values, vectors = np.linalg.eigh(scaled)
    return np.asarray(scale * (vectors @ ((vectors.T @ (scale * right)) / np.maximum(values, 1e-14))))
