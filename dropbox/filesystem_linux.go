package dropbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// kinds describes the file systems by the number that statfs(2) returns.
var kinds = map[uint32]FileSystem{
	unix.EXT4_SUPER_MAGIC:      {Kind: "ext4"}, // also ext2 and ext3
	unix.XFS_SUPER_MAGIC:       {Kind: "xfs"},
	unix.BTRFS_SUPER_MAGIC:     {Kind: "btrfs"},
	unix.F2FS_SUPER_MAGIC:      {Kind: "f2fs"},
	0x2fc12fc1:                 {Kind: "zfs"},
	0xca451a4e:                 {Kind: "bcachefs"},
	unix.MSDOS_SUPER_MAGIC:     {Kind: "vfat"},
	unix.EXFAT_SUPER_MAGIC:     {Kind: "exfat"},
	0x7366746e:                 {Kind: "ntfs3"},
	unix.TMPFS_MAGIC:           {Kind: "tmpfs", Volatile: true},
	unix.RAMFS_MAGIC:           {Kind: "ramfs", Volatile: true},
	unix.OVERLAYFS_SUPER_MAGIC: {Kind: "overlay", Volatile: true},
	unix.NFS_SUPER_MAGIC:       {Kind: "nfs", Remote: true},
	unix.CIFS_SUPER_MAGIC:      {Kind: "cifs", Remote: true},
	unix.SMB2_SUPER_MAGIC:      {Kind: "cifs", Remote: true},
	unix.SMB_SUPER_MAGIC:       {Kind: "smbfs", Remote: true},
	unix.V9FS_MAGIC:            {Kind: "9p", Remote: true},
	unix.FUSE_SUPER_MAGIC:      {Kind: "fuse", Remote: true},
	unix.CEPH_SUPER_MAGIC:      {Kind: "ceph", Remote: true},
	unix.AFS_SUPER_MAGIC:       {Kind: "afs", Remote: true},
	0x786f4256:                 {Kind: "vboxsf", Remote: true},
	0x0bd00bd0:                 {Kind: "lustre", Remote: true},
}

func statFileSystem(dir string) (FileSystem, error) {
	var st unix.Statfs_t
	if err := retryEINTR(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return FileSystem{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return kinds[uint32(st.Type)], nil
}
