"""Limits of the control group, versions 1 and 2, host and container."""

from pathlib import Path

from surefit.hardware.cgroup import CgroupLimits, read_cgroup_limits
from surefit.units import GIB


def limits(tmp_path: Path, files: dict[str, str], membership: str) -> CgroupLimits:
    root = tmp_path / "cgroup"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    member = tmp_path / "member"
    member.write_text(membership)
    return read_cgroup_limits(root, member)


def test_no_files_mean_no_limit(tmp_path: Path) -> None:
    assert limits(tmp_path, {}, "") == CgroupLimits(None, None, None)
    assert read_cgroup_limits(tmp_path / "none", tmp_path / "none") == CgroupLimits()


def test_version_2_in_a_container(tmp_path: Path) -> None:
    files = {
        "cpu.max": "150000 100000\n",
        "memory.max": f"{4 * GIB}\n",
        "memory.current": f"{3 * GIB}\n",
        "memory.stat": f"anon 1\ninactive_file {GIB}\n",
    }
    assert limits(tmp_path, files, "0::/\n") == CgroupLimits(1.5, 4 * GIB, 2 * GIB)


def test_version_2_without_limits(tmp_path: Path) -> None:
    files = {"cpu.max": "max 100000\n", "memory.max": "max\n", "memory.current": "5\n"}
    assert limits(tmp_path, files, "0::/\n") == CgroupLimits(None, None, None)


def test_the_tightest_group_on_the_way_up_counts(tmp_path: Path) -> None:
    files = {
        "outer/memory.max": f"{2 * GIB}",
        "outer/memory.current": f"{GIB}",
        "outer/inner/memory.max": f"{8 * GIB}",
        "outer/inner/memory.current": "0",
        "outer/cpu.max": "max 100000",
        "outer/inner/cpu.max": "400000 100000",
    }
    found = limits(tmp_path, files, "0::/outer/inner\n")
    assert found == CgroupLimits(4.0, 2 * GIB, GIB)


def test_version_1(tmp_path: Path) -> None:
    files = {
        "memory/job/memory.limit_in_bytes": f"{GIB}\n",
        "memory/job/memory.usage_in_bytes": f"{GIB // 4}\n",
        "memory/job/memory.stat": "total_inactive_file 0\n",
        "memory/memory.limit_in_bytes": "9223372036854771712\n",
        "cpu,cpuacct/job/cpu.cfs_quota_us": "50000\n",
        "cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
    }
    membership = "4:memory:/job\n1:cpu,cpuacct:/job\n0::/\n"
    assert limits(tmp_path, files, membership) == CgroupLimits(0.5, GIB, GIB * 3 // 4)


def test_version_1_without_limits(tmp_path: Path) -> None:
    files = {
        "memory/memory.limit_in_bytes": "9223372036854771712",
        "cpu/cpu.cfs_quota_us": "-1",
        "cpu/cpu.cfs_period_us": "100000",
    }
    assert limits(tmp_path, files, "4:memory:/\n1:cpu:/\n") == CgroupLimits(None, None, None)


def test_a_host_path_that_a_container_does_not_see_falls_back_to_its_own_root(
    tmp_path: Path,
) -> None:
    files = {"memory/memory.limit_in_bytes": f"{GIB}", "memory/memory.usage_in_bytes": "0"}
    found = limits(tmp_path, files, "4:memory:/docker/abc\n")
    assert found.memory_total == GIB


def test_more_in_use_than_allowed_leaves_nothing(tmp_path: Path) -> None:
    files = {"memory.max": "100", "memory.current": "200"}
    assert limits(tmp_path, files, "0::/\n").memory_free == 0
