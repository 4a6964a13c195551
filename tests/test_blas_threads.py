"""The number of threads of matrix products is that of the whole program, whichever thread sets it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from searchlab import blas_threads
from searchlab.blas_threads import count_blas_threads, describe_blas, one_thread, use_blas_threads


def count_within(_: int) -> int:
    with one_thread():
        return count_blas_threads()


def test_one_thread_holds_in_every_thread():
    with use_blas_threads(2):
        assert count_within(0) == 1  # the first thread that sets a number
        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(count_within, range(40))) == {1}
        assert count_blas_threads() == 2


def test_the_last_thread_to_leave_restores_the_number():
    left = threading.Event()

    def stay() -> int:
        with one_thread():
            entered.set()
            left.wait(10)
            return count_blas_threads()

    entered = threading.Event()
    with use_blas_threads(2), ThreadPoolExecutor(1) as pool:
        with one_thread():
            other = pool.submit(stay)
            entered.wait(10)
        assert count_blas_threads() == 1  # the other thread is within
        left.set()
        assert other.result() == 1
        assert count_blas_threads() == 2


def test_another_thread_can_set_the_number_of_all():
    before = count_blas_threads()

    def count_with_two() -> int:
        with use_blas_threads(2):
            return count_blas_threads()

    with use_blas_threads(1), ThreadPoolExecutor(1) as pool:
        assert pool.submit(count_with_two).result() == 2
        assert count_blas_threads() == 1
    assert count_blas_threads() == before


def test_only_the_libraries_of_numpy_and_scipy_are_described(monkeypatch):
    def library(package, version, architecture):
        path = f"/lib/{package}.libs/libblas.so"
        return SimpleNamespace(internal_api="openblas", version=version, architecture=architecture, filepath=path)

    loaded = [library("scipy", "0.2", "Zen"), library("numpy", "0.3", None), library("cvxopt", "0.4", "Zen")]
    monkeypatch.setattr(blas_threads, "_libraries", lambda: SimpleNamespace(lib_controllers=loaded))
    assert describe_blas() == "openblas 0.2 (Zen), openblas 0.3 (any processor)"
